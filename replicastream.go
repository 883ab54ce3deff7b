package failaware

import (
	"context"
	"errors"
	"sync"

	"github.com/failaware/failaware/broadcast"
	replicas "github.com/failaware/failaware/broadcast/replica/driver"
	"github.com/failaware/failaware/internal/loop/deliveryqueue"
	"github.com/failaware/failaware/timed"
)

// errNewLife ends the driver of an incarnation that is over.
var errNewLife = errors.New("failaware: the incarnation is over")

// stream is a node's deliveries as the driver of a replica takes them. Only one
// goroutine at a time takes items.
type stream struct {
	n       *Node
	q       *deliveryqueue.Queue
	ledger  *ledger
	batch   [receiveBatch]Delivery
	next, k int
	view    *replicas.Item // read by begin, and not taken yet
	coming  BootID         // of the incarnation that an item has announced, or 0
}

// item returns the next item. Its payload is borrowed.
func (s *stream) item(ctx context.Context) (*Delivery, error) {
	if s.next == s.k {
		k, err := s.n.receive(ctx, s.q, s.batch[:])
		if err != nil {
			return nil, err
		}
		s.next, s.k = 0, k
	}
	s.next++
	return &s.batch[s.next-1], nil
}

// begin returns the incarnation that the coming items are of.
func (s *stream) begin(ctx context.Context) (self Incarnation, err error) {
	for {
		if s.coming != 0 {
			self = Incarnation{Node: s.n.ID(), Boot: s.coming}
			s.coming = 0
			return self, nil
		}
		d, err := s.item(ctx)
		if err != nil {
			return self, err
		}
		switch d.Kind {
		case NewIncarnation:
			s.coming = d.ID.Boot
		case ViewChange:
			me, _ := d.View.Member(s.n.ID())
			s.view = &replicas.Item{View: d.View}
			return me.Incarnation, nil
		}
	}
}

// Next implements [replicas.Group].
func (s *stream) Next(ctx context.Context) (replicas.Item, error) {
	if v := s.view; v != nil {
		s.view = nil
		return *v, nil
	}
	for {
		d, err := s.item(ctx)
		if err != nil {
			return replicas.Item{}, err
		}
		switch d.Kind {
		case Message:
			return replicas.Item{Delivery: broadcast.Delivery{ID: d.ID,
				Options:      broadcast.Options{Order: d.Order, Atomicity: d.Atomicity},
				Transitional: d.Transitional, Position: d.Position, Stamp: d.Stamp, Deviation: d.Deviation,
				Payload: append([]byte(nil), d.Payload...)}}, nil
		case ViewChange:
			return replicas.Item{View: d.View}, nil
		case OutcomeLost:
			s.ledger.lose(d.ID, d.Change.From)
		case NewIncarnation:
			s.coming = d.ID.Boot
			s.ledger.restart(s.coming)
			return replicas.Item{}, errNewLife
		}
	}
}

// Broadcast implements [replicas.Group].
func (s *stream) Broadcast(ctx context.Context, payload []byte, opt broadcast.Options) error {
	_, err := s.n.Broadcast(ctx, payload, BroadcastOptions{Order: opt.Order, Atomicity: opt.Atomicity})
	return err
}

// Now implements [replicas.Group].
func (s *stream) Now() timed.Instant { return s.n.clock.Now() }

// guarded is the application behind a lock, which readers share.
type guarded struct {
	Application
	ledger   *ledger
	mu       sync.RWMutex
	result   any    // of the last Apply
	restores uint64 // how often the state was replaced by that of others
}

// Apply implements [replicas.Application].
func (g *guarded) Apply(op Operation) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.result = g.Application.Apply(op)
}

// Restore implements [replicas.Application].
func (g *guarded) Restore(state []byte) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.restores++
	return g.Application.Restore(state)
}

// Merge implements [replicas.Application].
func (g *guarded) Merge(branches []StateBranch) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.Application.Merge(branches)
}

// Applied implements [replicas.Watcher].
func (g *guarded) Applied(op Operation, lasting bool) {
	g.ledger.settle(&op, verdict{result: g.result, lasting: lasting, restores: g.restores})
	g.result = nil
}

// Skipped implements [replicas.Watcher].
func (g *guarded) Skipped(op Operation) { g.ledger.settle(&op, verdict{unknown: NotAppliedHere}) }

// Passed implements [replicas.Watcher].
func (g *guarded) Passed(barrier Operation, lasting bool) {
	g.ledger.settle(&barrier, verdict{lasting: lasting, restores: g.restores})
}

// hashing is an application whose state can be hashed.
type hashing struct {
	*guarded
	replicas.Hasher
}
