package bench

import (
	"context"
	"encoding/binary"
	"sync"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/hwclock"
)

// floodSetup makes a node one that floods its group.
type floodSetup struct {
	Size      int // of messages, in bytes
	Atomicity failaware.Atomicity
}

// floodChild is the application of a node that sends as much as the window takes and
// records the history of its deliveries.
type floodChild struct {
	node     *failaware.Node
	clock    *hwclock.Clock
	setup    floodSetup
	recorder historyRecorder

	mu   sync.Mutex
	slow time.Duration // how long the application takes for each batch

	sent uint64 // messages, by the goroutine that sends
	halt context.CancelFunc
	done chan struct{}
}

// receive takes deliveries until the node stops.
func (f *floodChild) receive(ctx context.Context) {
	into := make([]failaware.Delivery, 512)
	for {
		n, err := f.node.Receive(ctx, into)
		if err != nil {
			return
		}
		f.recorder.note(into[:n], f.clock.Now())
		f.mu.Lock()
		pause := f.slow
		f.mu.Unlock()
		if pause > 0 {
			time.Sleep(pause)
		}
	}
}

// start begins to send, and stop ends it and waits until it has ended.
func (f *floodChild) start(ctx context.Context) {
	ctx, f.halt = context.WithCancel(ctx)
	f.done = make(chan struct{})
	go f.send(ctx, f.done)
}

func (f *floodChild) stop() {
	if f.halt != nil {
		f.halt()
		<-f.done
		f.halt = nil
	}
}

// send broadcasts until the end, and numbers the messages.
func (f *floodChild) send(ctx context.Context, done chan struct{}) {
	defer close(done)
	opt := failaware.BroadcastOptions{Order: failaware.TotalOrder, Atomicity: f.setup.Atomicity}
	payload := make([]byte, f.setup.Size)
	for ctx.Err() == nil {
		binary.BigEndian.PutUint64(payload, f.sent+1)
		if _, err := f.node.Broadcast(ctx, payload, opt); err == nil {
			f.sent++
		} // else it is over, or between two incarnations
	}
}

// slowDown makes the application take d for each batch.
func (f *floodChild) slowDown(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.slow = d
}
