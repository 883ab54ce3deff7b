package failaware

import (
	"context"
	"errors"
	"iter"

	"github.com/failaware/failaware/internal/loop/deliveryqueue"
)

// Receive waits for items of the deliveries, moves those that are there into the
// slice, and returns how many, at least one. Payloads are borrowed until the next
// call of Receive, or of [Node.Deliveries]; that call also says that the application
// is done with these items, which [BroadcastConfig.Backlog] counts. They must not be
// written to: they are the memory from which the node sends them again to members
// that have lost them. Views and changes may be kept.
//
// Deliveries have one consumer at a time: a second one gets [ErrConsumer]. An
// application that takes them too slowly holds up its own node only; see
// [BroadcastConfig.SlowAfter]. In the steady state Receive does not allocate.
//
// Other errors: the cause of ctx; [ErrClosed] when the node has stopped and
// everything was received; [ErrBroadcastOff]; [ErrSendOnly].
func (n *Node) Receive(ctx context.Context, into []Delivery) (int, error) {
	q, err := n.consume()
	if err != nil {
		return 0, err
	}
	defer q.Release()
	if len(into) == 0 {
		return 0, errors.New("failaware: Receive without room for an item")
	}
	return n.receive(ctx, q, into)
}

// receiveBatch is how many items an iterator borrows at once.
const receiveBatch = 64

// Deliveries returns an iterator over the deliveries, as [Node.Receive] gives them.
// A payload is borrowed until the next item, and that of the last one as those of
// Receive; [Delivery.Clone] keeps one. The iteration ends with an error, as those of
// Receive, and an item of no kind. Items that were not iterated over are left for the
// next consumer.
func (n *Node) Deliveries(ctx context.Context) iter.Seq2[Delivery, error] {
	return func(yield func(Delivery, error) bool) {
		q, err := n.consume()
		if err != nil {
			yield(Delivery{}, err)
			return
		}
		defer q.Release()
		var batch [receiveBatch]Delivery
		for {
			k, err := n.receive(ctx, q, batch[:])
			if err != nil {
				yield(Delivery{}, err)
				return
			}
			for i := range k {
				if !yield(batch[i], nil) {
					if q.Unread(k - i - 1) {
						n.loop.Wake()
					}
					return
				}
			}
		}
	}
}

// consume makes the caller the one consumer of the deliveries, until it releases
// them.
func (n *Node) consume() (*deliveryqueue.Queue, error) {
	q := n.loop.Deliveries()
	switch {
	case n.cfg.Broadcast == nil:
		return nil, ErrBroadcastOff
	case q == nil:
		return nil, ErrSendOnly
	case !q.Acquire():
		return nil, ErrConsumer
	}
	return q, nil
}

// receive waits for items. The caller is the consumer.
func (n *Node) receive(ctx context.Context, q *deliveryqueue.Queue, into []Delivery) (int, error) {
	for {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		items, eased, closed := q.Borrow(len(into))
		if eased {
			n.loop.Wake()
		}
		for i := range items {
			into[i].fill(&items[i])
		}
		switch {
		case len(items) > 0:
			return len(items), nil
		case closed:
			return 0, ErrClosed
		}
		select {
		case <-q.Ready():
		case <-ctx.Done():
		}
	}
}
