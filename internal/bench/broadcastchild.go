package bench

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/timed"
)

// castSetup makes a node a broadcasting one.
type castSetup struct {
	Packet int  // Config.MaxPacket
	Procs  int  // GOMAXPROCS
	Marks  bool // its socket has marks
}

// castRun is a run in which all children take part at the same time. They send from
// Begin to End and count from Measured to End.
type castRun struct {
	Number               uint32 // marks the messages of this run
	Senders              timed.Set
	Size                 int // in bytes
	Order                failaware.Order
	Atomicity            failaware.Atomicity
	Rate                 float64 // messages per second of each sender; 0: as many as the window allows
	Every                int     // one of Every messages is traced
	Begin, Measured, End timed.Instant
}

// castCount is the counters of a child.
type castCount struct {
	Elapsed  time.Duration
	CPU      time.Duration
	Messages uint64 // received by the application
	Bytes    uint64 // in them
	Views    uint64 // installed
	Overflow uint64 // messages that the kernel dropped at the socket
	Procs    int    // GOMAXPROCS
	Traces   []castTrace
	Marks    []mark `json:",omitempty"`
}

// castTrace is the way of one message: the instant of the call of Broadcast, and the
// instant at which the application of the reporting child had it.
type castTrace struct {
	Sender    timed.NodeID
	Number    uint32
	Sent, Had timed.Instant
}

// A payload begins with its run (4), its number among the traced messages or zero (4),
// and the instant of the call of Broadcast (8).
const (
	castHead = 16
	// castTraces bounds the traced messages of a sender in a run. castRun.Every and
	// the time between two spread them over the run.
	castTraces = 2000
	// castDrain is how long after the end of a run its messages may still come.
	castDrain = 500 * time.Millisecond
	// castPace is the shortest sleep of a sender with a rate. It sends all due
	// messages together, because otherwise sleeping would take most of the
	// processor time.
	castPace = time.Millisecond
)

// castChild is the application of a node that broadcasts: one goroutine that
// receives, and one that sends.
type castChild struct {
	node  *failaware.Node
	clock *hwclock.Clock
	marks *marks // nil: none

	mu     sync.Mutex
	number uint32 // of the run
	count  castCount
}

// receive takes deliveries until the node stops.
func (c *castChild) receive(ctx context.Context) {
	into := make([]failaware.Delivery, 512)
	for {
		n, err := c.node.Receive(ctx, into)
		if err != nil {
			return
		}
		c.take(into[:n], c.clock.Now())
	}
}

// take counts deliveries that the application had at now.
func (c *castChild) take(items []failaware.Delivery, now timed.Instant) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range items {
		it := &items[i]
		switch it.Change.(type) {
		case failaware.ViewChange:
			c.count.Views++
		case nil:
			if len(it.Payload) < castHead || binary.BigEndian.Uint32(it.Payload) != c.number {
				continue
			}
			c.count.Messages++
			c.count.Bytes += uint64(len(it.Payload))
			if k := binary.BigEndian.Uint32(it.Payload[4:]); k > 0 {
				c.count.Traces = append(c.count.Traces, castTrace{it.ID.Sender, k,
					timed.Instant(binary.BigEndian.Uint64(it.Payload[8:])), now})
			}
		}
	}
}

// look returns the counters without the traces.
func (c *castChild) look() castCount {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.count
	n.Traces = nil
	return n
}

// run takes part in a run.
func (c *castChild) run(ctx context.Context, r *castRun) (*castCount, error) {
	c.mu.Lock()
	c.number, c.count = r.Number, castCount{Traces: make([]castTrace, 0, castTraces)}
	c.mu.Unlock()
	if c.marks != nil {
		c.marks.begin()
	}
	sent := make(chan error, 1)
	if r.Senders.Has(c.node.ID()) {
		go func() { sent <- c.send(ctx, r) }()
	} else {
		sent <- nil
	}
	time.Sleep(r.Measured.Sub(c.clock.Now()))
	var before, after usage
	if err := before.ofProcess(); err != nil {
		return nil, err
	}
	overflow := nodeCounter(c.node, "received_overflow")
	start, first := c.clock.Now(), c.look()
	time.Sleep(r.End.Sub(start))
	stop, last := c.clock.Now(), c.look()
	if err := after.ofProcess(); err != nil {
		return nil, err
	}
	if err := <-sent; err != nil {
		return nil, err
	}
	time.Sleep(castDrain)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.number = 0
	var marked []mark
	if c.marks != nil {
		marked = c.marks.end()
	}
	return &castCount{Marks: marked, Elapsed: stop.Sub(start), CPU: after.CPU - before.CPU, Messages: last.Messages - first.Messages,
		Bytes: last.Bytes - first.Bytes, Views: last.Views - first.Views,
		Overflow: nodeCounter(c.node, "received_overflow") - overflow, Traces: c.count.Traces,
		Procs: runtime.GOMAXPROCS(0)}, nil
}

// send broadcasts from the beginning to the end of a run.
func (c *castChild) send(ctx context.Context, r *castRun) error {
	now := c.clock.Now()
	ctx, cancel := context.WithTimeout(ctx, r.End.Sub(now))
	defer cancel()
	payload := make([]byte, r.Size)
	binary.BigEndian.PutUint32(payload, r.Number)
	opt := failaware.BroadcastOptions{Order: r.Order, Atomicity: r.Atomicity}
	begin := r.Begin
	if r.Rate > 0 { // senders take turns while messages are few
		begin = begin.Add(time.Duration(float64(r.Senders.Rank(c.node.ID())) / float64(r.Senders.Len()) / r.Rate * float64(time.Second)))
	}
	time.Sleep(begin.Sub(now))
	gap := r.End.Sub(r.Measured) / castTraces
	var traced uint32
	var lately timed.Instant
	for n := 0; ; n++ {
		if r.Rate > 0 {
			due := begin.Add(time.Duration(float64(n) / r.Rate * float64(time.Second)))
			if ahead := due.Sub(c.clock.Now()); ahead > 0 {
				time.Sleep(max(ahead, castPace))
			}
		}
		binary.BigEndian.PutUint32(payload[4:], 0)
		if n%r.Every == 0 {
			now := c.clock.Now()
			if now >= r.End {
				return nil
			}
			if now >= r.Measured && now.Sub(lately) >= gap && traced < castTraces {
				traced++
				lately = now
				binary.BigEndian.PutUint32(payload[4:], traced)
				binary.BigEndian.PutUint64(payload[8:], uint64(now))
			}
		}
		if _, err := c.node.Broadcast(ctx, payload, opt); errors.Is(err, context.DeadlineExceeded) {
			return nil
		} else if err != nil {
			return fmt.Errorf("broadcasting: %w", err)
		}
	}
}

// nodeCounter returns a counter of a node.
func nodeCounter(n *failaware.Node, name string) uint64 {
	for _, c := range n.Status().Counters {
		if c.Name == name {
			return c.Value
		}
	}
	return 0
}
