package failaware

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/failaware/failaware/internal/loop/deliveryqueue"
)

// DeliveryKind tells items of the deliveries apart.
type DeliveryKind uint8

// The items come in the order of extended virtual synchrony: members that move
// together from one view to the next get the same items of kinds Message (except for
// the order of Unordered ones among each other), TransitionBegins and ViewChange
// between the two ViewChange items.
const (
	// Message: a message. A sender gets its own messages as well.
	Message DeliveryKind = iota + 1
	// TransitionBegins: messages up to the next ViewChange come with Change.Along, the
	// members that move together to the next view, and perhaps not with the other
	// members of View. They are marked Transitional.
	TransitionBegins
	// ViewChange: messages from now on are delivered in View. Change says which members
	// came along, and which branches of the group meet in it.
	ViewChange
	// OutcomeLost: another branch of the group has ordered own messages of class
	// ID.Class from sequence Change.From through ID.Sequence. This node cannot know which
	// nodes delivered them, and does not send them again.
	OutcomeLost
	// NewIncarnation: this node gave up its incarnation, and began the one of ID.Boot
	// ([Restarted]). The outcome of its own earlier messages is not known, unless they
	// were delivered above; it is in no view until the next ViewChange.
	NewIncarnation
)

func (k DeliveryKind) String() string {
	switch k {
	case Message:
		return "message"
	case TransitionBegins:
		return "transition"
	case ViewChange:
		return "view"
	case OutcomeLost:
		return "outcome-lost"
	case NewIncarnation:
		return "new-incarnation"
	}
	return "unknown"
}

// Delivery is one item of the deliveries.
type Delivery struct {
	Kind DeliveryKind
	// Order and Atomicity are those that the sender of a Message asked for.
	Order     Order
	Atomicity Atomicity
	// Transitional says of a Message that its atomicity was not reached in View: it
	// comes with the members that move on together.
	Transitional bool
	// ID names a Message; see the other kinds.
	ID MessageID
	// Position counts the Total and Timed messages of View, from 1, the same at all
	// members; 0 for others.
	Position uint64
	// Stamp is the group time at which a Message was sent, wrong by at most Deviation,
	// or [clocksync.UnknownBound] when the sender's clock was not synchronized.
	Stamp     GroupTime
	Deviation time.Duration
	// Payload is that of a Message. It is borrowed, to be read only: see [Node.Receive].
	Payload []byte
	// View is where the item belongs; nil with NewIncarnation and before the first
	// view. It must not be changed.
	View *View
	// Change says more about items other than messages; nil for those.
	Change *DeliveryChange
}

// DeliveryChange says more about an item that is no message.
type DeliveryChange struct {
	// Next is the view that a transition leads to.
	Next *View
	// Previous is the view that this node comes from; none at first.
	Previous ViewID
	// Along are the members that move together with this node.
	Along Set
	// Merged are the branches that meet in the view, each with its members.
	Merged []Branch
	// From is the first sequence of an OutcomeLost.
	From uint64
	// Reason is why there is a NewIncarnation.
	Reason RestartReason
}

// Clone returns a copy whose payload the caller may keep.
func (d Delivery) Clone() Delivery {
	if d.Payload != nil {
		d.Payload = append([]byte{}, d.Payload...)
	}
	return d
}

// fill makes the delivery of an item of the queue.
func (d *Delivery) fill(it *deliveryqueue.Item) {
	m := &it.Message
	*d = Delivery{Kind: DeliveryKind(it.Kind), Order: m.Order, Atomicity: m.Atomicity, Transitional: m.Transitional, ID: m.ID,
		Position: m.Position, Stamp: m.Stamp, Deviation: m.Deviation, Payload: m.Payload, View: it.View}
	if c := it.Change; c != nil {
		d.Change = &DeliveryChange{Next: c.Next, Previous: c.Previous, Along: c.Along, Merged: c.Merged,
			From: c.From, Reason: restartReasons[c.Reason]}
	}
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
