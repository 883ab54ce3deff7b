package demo

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/failaware/failaware"
)

// traffic counts the messages that a node delivers, of those that all nodes broadcast all
// the time.
type traffic struct {
	delivered atomic.Uint64
	latency   atomic.Int64 // of the node's own latest message, from the call to its delivery here
}

const (
	// sayEvery is the mean interval between two messages of a node.
	sayEvery = 200 * time.Millisecond
	// saidBytes is the size of a message.
	saidBytes = 64
)

// run sends and receives until the node ends.
func (t *traffic) run(ctx context.Context, n *failaware.Node) {
	var saying sync.WaitGroup
	saying.Go(func() { t.say(ctx, n) })
	defer saying.Wait()
	batch := make([]failaware.Delivery, 16)
	for {
		k, err := n.Receive(ctx, batch)
		for i := range batch[:k] {
			if batch[i].Change == nil {
				t.delivered.Add(1)
			}
		}
		if err != nil {
			return
		}
	}
}

// say broadcasts messages at random times. Their outcome is shown only if they were
// delivered: in a view that ends it may be unknown.
func (t *traffic) say(ctx context.Context, n *failaware.Node) {
	payload := make([]byte, saidBytes)
	for {
		wait := time.NewTimer(sayEvery/2 + rand.N(sayEvery))
		select {
		case <-ctx.Done():
			wait.Stop()
			return
		case <-n.Done():
			wait.Stop()
			return
		case <-wait.C:
		}
		began := time.Now()
		if _, err := n.BroadcastAndWait(ctx, payload, failaware.BroadcastOptions{}); err == nil {
			t.latency.Store(int64(time.Since(began)))
		}
	}
}
