package failaware

import (
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
	Order     MessageOrder
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
