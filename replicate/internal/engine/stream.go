package engine

import (
	"context"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/attach"
	"github.com/failaware/failaware/internal/loop/deliveryqueue"
	"github.com/failaware/failaware/timed"
)

// Stream is the group of a node. One goroutine at a time takes items.
type Stream struct {
	node       *failaware.Node
	deliveries attach.Deliveries
	engine     *Engine
	items      []deliveryqueue.Item // borrowed, and not taken yet
	first      Item                 // taken by Begin, and not by Next yet
	coming     Incarnation          // that an item has announced, without the node; or none
	remains    []broadcast.Delivery // of the incarnation before
}

// NewStream returns the group of a node whose deliveries it takes. [Stream.Follow]
// must be called before its use.
func NewStream(n *failaware.Node, d attach.Deliveries) *Stream {
	return &Stream{node: n, deliveries: d}
}

// Follow has the stream tell an engine which outcomes are lost. While too much waits for
// the engine's application, items count as waiting too, so that the broadcast learns that
// it is slow.
func (s *Stream) Follow(e *Engine) { s.engine = e }

// item returns the next item. Its payload is borrowed.
func (s *Stream) item(ctx context.Context) (*deliveryqueue.Item, error) {
	for len(s.items) == 0 {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		closed := s.borrow()
		if len(s.items) > 0 {
			break
		}
		if closed {
			return nil, failaware.ErrClosed
		}
		select {
		case <-s.deliveries.Ready():
		case <-s.engine.calls.eased:
		case <-ctx.Done():
		}
	}
	return s.pop(), nil
}

// pop takes the first borrowed item.
func (s *Stream) pop() *deliveryqueue.Item {
	it := &s.items[0]
	s.items = s.items[1:]
	return it
}

// borrow borrows the next items, if there are any.
func (s *Stream) borrow() (closed bool) {
	if s.engine.calls.isFull() {
		s.items, closed = s.deliveries.BorrowMore(maxBorrowed)
		return closed
	}
	var eased bool
	if s.items, eased, closed = s.deliveries.Borrow(maxBorrowed); eased {
		s.deliveries.Wake()
	}
	return closed
}

// maxBorrowed is how many items are borrowed at once.
const maxBorrowed = 64

// Begin implements [Group].
func (s *Stream) Begin(ctx context.Context) (i Incarnation, err error) {
	for {
		if i = s.coming; i.Self.Boot != 0 {
			i.Self.Node, s.coming = s.node.ID(), Incarnation{}
			return i, nil
		}
		it, err := s.item(ctx)
		if err != nil {
			return i, err
		}
		switch it.Kind {
		case deliveryqueue.NewIncarnation:
			s.coming = announced(it)
		case deliveryqueue.Installed:
			me, _ := it.View.Member(s.node.ID())
			s.first = Item{View: it.View, Base: it.Change.Base}
			return Incarnation{me.Incarnation, it.Change.Quorum, it.Change.Epoch}, nil
		}
	}
}

// announced returns the incarnation that an item announces.
func announced(it *deliveryqueue.Item) Incarnation {
	return Incarnation{timed.Incarnation{Boot: it.Message.Boot}, it.Change.Quorum, it.Change.Epoch}
}

// Next implements [Group].
func (s *Stream) Next(ctx context.Context) (Item, error) {
	if first := s.first; first.View != nil {
		s.first = Item{}
		return first, nil
	}
	for {
		if s.coming.Self.Boot != 0 {
			return s.last()
		}
		borrowed, err := s.item(ctx)
		if err != nil {
			return Item{}, err
		}
		if it, ok := s.take(borrowed); ok {
			return it, nil
		}
	}
}

// More implements [Group].
func (s *Stream) More() (it Item, ok bool) {
	for !ok && len(s.items) > 0 && s.coming.Self.Boot == 0 {
		it, ok = s.take(s.pop())
	}
	return it, ok
}

// take returns the step that a borrowed item is, if it is one.
func (s *Stream) take(it *deliveryqueue.Item) (Item, bool) {
	switch it.Kind {
	case deliveryqueue.Message:
		m := it.Message
		return Item{Delivery: broadcast.Delivery{ID: m.ID, Options: m.Options, Transitional: m.Transitional, Flushed: m.Flushed,
			Position: m.Position, Stamp: m.Stamp, Deviation: m.Deviation, Payload: append([]byte(nil), m.Payload...)}}, true
	case deliveryqueue.Installed:
		return Item{View: it.View, Base: it.Change.Base}, true
	case deliveryqueue.Lost:
		s.engine.Outcomes.lose(it.Message.ID, it.Change.From)
	case deliveryqueue.NewIncarnation:
		s.coming, s.remains = announced(it), it.Change.Remains
	}
	return Item{}, false
}

// last returns what the broadcast of an ending incarnation still had. Others may rely on
// it.
func (s *Stream) last() (Item, error) {
	if len(s.remains) > 0 {
		d := s.remains[0]
		s.remains = s.remains[1:]
		return Item{Delivery: d}, nil
	}
	s.engine.Outcomes.restart(s.coming.Self.Boot)
	return Item{}, ErrNextIncarnation
}

// Broadcast implements [Group].
func (s *Stream) Broadcast(ctx context.Context, payload []byte, opt broadcast.Options) error {
	return s.deliveries.Send(ctx, payload, opt)
}

// Release lets another consumer have the deliveries.
func (s *Stream) Release() { s.deliveries.Release() }
