package sendqueue

import (
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/membership"
)

// Outcome is the delivery of a message at this node in View, or why that is not
// known.
type Outcome struct {
	Message broadcast.Delivery // without its payload
	View    *membership.View
	// Lost, if not NotLost, says why the outcome is not known. It then is about all
	// messages of the class of Message through its sequence.
	Lost Loss
}

// Loss says why the outcome of a message is not known.
type Loss uint8

// The losses.
const (
	NotLost          Loss = iota
	OrderedElsewhere      // another branch of the group ordered the message
	IncarnationEnded      // the incarnation that sent it ended
	NodeStopped           // the node stopped
)

// Waiter waits for the outcome of one message.
type Waiter struct {
	// Result gets the outcome. It has room for one, so that the loop never waits for
	// the waiter.
	Result chan Outcome
	// Queued is for [Queue.Send] of that message.
	Queued func(broadcast.ID)

	sequence uint64
}

// waiters are those that wait for messages of one class, in the order of the
// sequences. Outcomes come in that order too: a sender's messages of a class never
// overtake each other.
type waiters struct{ list []*Waiter }
