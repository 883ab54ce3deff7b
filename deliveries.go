package failaware

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/failaware/failaware/internal/loop/deliveryqueue"
)

// Delivery is one item of the deliveries: a message or, if Change is not nil, a change.
//
// The order of items is a form of extended virtual synchrony. Members that move together
// from one view to the next get the same items between the two [ViewChange] items, except
// that Unordered messages may come in another order, and that some changes concern one node
// only.
type Delivery struct {
	// View is the view to which the item belongs. It is empty before the first view and with
	// a [NewIncarnation], and never nil. It must not be changed.
	View *View
	// Change is nil for a message. The fields below belong to messages, and are zero with a
	// change.
	Change Change

	// ID names the message. A sender gets its own messages as well.
	ID MessageID
	// Order and Atomicity are the ones that the sender asked for.
	Order     Order
	Atomicity Atomicity
	// Transitional says that the atomicity was not reached in View: the message comes
	// with the members that move on together. Another branch of the group may order
	// the message anew, at another place, and deliver it as regular.
	Transitional bool
	// Position counts the Total and Timed messages of View from 1; 0 for others. It is the
	// same at all members, unless the message is Transitional.
	Position uint64
	// Stamp is the group time of sending, wrong by at most Deviation, which is
	// [clocksync.UnknownBound] when the sender's clock was not synchronized.
	Stamp     GroupTime
	Deviation time.Duration
	// Payload is borrowed, to be read only: see [Node.Receive].
	Payload []byte
}

// Clone returns a copy whose payload the caller may keep.
func (d Delivery) Clone() Delivery {
	if d.Payload != nil {
		d.Payload = append([]byte{}, d.Payload...)
	}
	return d
}

// String names the message, without its payload, or describes the change.
func (d Delivery) String() string {
	v := someView(d.View).ID
	switch {
	case d.Change != nil:
		return fmt.Sprintf("%v (view %v)", d.Change, v)
	case d.Position > 0:
		return fmt.Sprintf("message %v of %d bytes at position %d of view %v", d.ID, len(d.Payload), d.Position, v)
	}
	return fmt.Sprintf("message %v of %d bytes in view %v", d.ID, len(d.Payload), v)
}

// fill makes the delivery of an item of the queue. For a message it does not allocate.
func (d *Delivery) fill(it *deliveryqueue.Item) {
	if it.Kind != deliveryqueue.Message {
		*d = Delivery{View: someView(it.View), Change: changeOf(it)}
		return
	}
	m := &it.Message
	*d = Delivery{View: someView(it.View), ID: m.ID, Order: m.Order, Atomicity: m.Atomicity, Transitional: m.Transitional,
		Position: m.Position, Stamp: m.Stamp, Deviation: m.Deviation, Payload: m.Payload}
}

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
// A payload is borrowed until the next item, and that of the last item until the next
// call of Deliveries or Receive; [Delivery.Clone] keeps one. The iteration ends with an
// empty item and an error of Receive. Items that were not iterated over are left for the
// next consumer, even if the body of the loop panics.
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
			if !n.yieldAll(q, batch[:k], yield) {
				return
			}
		}
	}
}

// yieldAll yields borrowed items until yield returns false or panics. It leaves the other
// items for the next consumer.
func (n *Node) yieldAll(q *deliveryqueue.Queue, batch []Delivery, yield func(Delivery, error) bool) bool {
	left := len(batch)
	more := false
	defer func() {
		if !more && q.Unread(left) {
			n.loop.Wake()
		}
	}()
	for i := range batch {
		left, more = len(batch)-i-1, false
		if more = yield(batch[i], nil); !more {
			break
		}
	}
	return more
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

// backlog returns how many bytes of deliveries wait for the application.
func (n *Node) backlog() int64 {
	if q := n.loop.Deliveries(); q != nil {
		return q.Backlog()
	}
	return 0
}
