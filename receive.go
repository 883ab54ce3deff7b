package failaware

import (
	"context"
	"errors"
	"iter"
)

// Receive waits for items of the deliveries, moves those that are there into the
// slice, and returns how many, at least one. Payloads are borrowed until the next
// call of Receive, or of [Node.Deliveries]; that call also says that the
// application is done with these items, which is what
// [BroadcastConfig.Backlog] counts. They must not be written to: they are the
// memory from which the node sends them again to members that have lost them.
// Views and changes may be kept.
//
// Deliveries have one consumer at a time: a second one gets [ErrConsumer]. An
// application that takes them too slowly holds up its own node only; see
// [BroadcastConfig.SlowAfter]. In the steady state Receive does not allocate.
//
// Other errors: the cause of ctx; [ErrClosed] when the node has stopped and
// everything was received; [ErrBroadcastOff]; [ErrSendOnly].
func (n *Node) Receive(ctx context.Context, into []Delivery) (int, error) {
	if err := n.consume(); err != nil {
		return 0, err
	}
	defer n.inbox.busy.Store(false)
	if len(into) == 0 {
		return 0, errors.New("failaware: Receive without room for an item")
	}
	return n.receive(ctx, into)
}

// receiveBatch is how many items an iterator borrows at once.
const receiveBatch = 64

// Deliveries returns an iterator over the deliveries, as [Node.Receive] gives
// them. Payloads are borrowed until the next item, and that of the last one as
// those of Receive; [Delivery.Clone] keeps one. The
// iteration ends with an error, those of Receive, and an item of no kind. What was
// not iterated over is there for the next consumer.
func (n *Node) Deliveries(ctx context.Context) iter.Seq2[Delivery, error] {
	return func(yield func(Delivery, error) bool) {
		if err := n.consume(); err != nil {
			yield(Delivery{}, err)
			return
		}
		defer n.inbox.busy.Store(false)
		var batch [receiveBatch]Delivery
		for {
			k, err := n.receive(ctx, batch[:])
			if err != nil {
				yield(Delivery{}, err)
				return
			}
			for i := range k {
				if !yield(batch[i], nil) {
					if n.inbox.unread(k - i - 1) {
						n.conn.Wake()
					}
					return
				}
			}
		}
	}
}

// consume makes the caller the one consumer.
func (n *Node) consume() error {
	switch {
	case n.cfg.Broadcast == nil:
		return ErrBroadcastOff
	case n.inbox == nil:
		return ErrSendOnly
	case !n.inbox.busy.CompareAndSwap(false, true):
		return ErrConsumer
	}
	return nil
}

func (n *Node) receive(ctx context.Context, into []Delivery) (int, error) {
	b := n.inbox
	for {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		k, eased, over := b.borrow(into)
		if eased {
			n.conn.Wake()
		}
		switch {
		case k > 0:
			return k, nil
		case over:
			return 0, ErrClosed
		}
		select {
		case <-b.ready:
		case <-ctx.Done():
		}
	}
}
