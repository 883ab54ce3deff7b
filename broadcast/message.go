package broadcast

import (
	"errors"
	"fmt"
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/timed"
)

// Order is the order in which members deliver messages.
type Order uint8

const (
	// Unordered: in the order of sending for each sender, and in no other order.
	Unordered Order = iota
	// Total: one order in the view.
	Total
	// Timed: one order in the view, by synchronized send time, then sender.
	Timed
)

func (o Order) String() string {
	switch o {
	case Unordered:
		return "unordered"
	case Total:
		return "total"
	case Timed:
		return "timed"
	}
	return fmt.Sprintf("order %d", uint8(o))
}

// Atomicity is the condition for delivering a message.
type Atomicity uint8

const (
	// Weak: no condition.
	Weak Atomicity = iota
	// Strong: more than half of the view's members have the message.
	Strong
	// Strict: all of the view's members have the message.
	Strict
)

func (a Atomicity) String() string {
	switch a {
	case Weak:
		return "weak"
	case Strong:
		return "strong"
	case Strict:
		return "strict"
	}
	return fmt.Sprintf("atomicity %d", uint8(a))
}

// Options are chosen for each message.
type Options struct {
	Order     Order
	Atomicity Atomicity
}

// Valid reports whether both choices exist.
func (o Options) Valid() bool { return o.Order <= Timed && o.Atomicity <= Strict }

// Class separates the sequences of a sender, so that messages without an order do not wait
// for those with one.
type Class uint8

const (
	// ClassUnordered holds the Unordered messages.
	ClassUnordered Class = iota
	// ClassOrdered holds the Total and Timed messages.
	ClassOrdered
	classes
)

// Class returns the class of messages with this order.
func (o Order) Class() Class {
	if o == Unordered {
		return ClassUnordered
	}
	return ClassOrdered
}

// ID names a message. It is given once and kept over views. Sequence is that of the last
// fragment, in the sender's class.
type ID struct {
	Sender   timed.NodeID
	Class    Class
	Boot     timed.BootID
	Sequence uint64
}

// MaxSequence bounds sequences and decision numbers on the wire.
const MaxSequence = 1 << 62

// Delivery is one message for the application.
type Delivery struct {
	ID
	Options
	// Transitional: the message did not reach its atomicity in the view that it was
	// ordered in. The members that move together to the next view all deliver it.
	Transitional bool
	// Position counts the ordered messages of the view from 1, alike at all members.
	// It is 0 for Unordered messages.
	Position uint64
	// Stamp is the group time of sending, with an error of at most Deviation, which is
	// [clocksync.UnknownBound] if the sender's clock was not synchronized.
	Stamp     clocksync.Time
	Deviation time.Duration
	// Payload is valid until Reclaim, or longer with Borrow. It must not be changed.
	Payload []byte
	home    *chunk // of the payload, unless that is empty
}

// Errors of [Service.Broadcast].
var (
	ErrWindowFull = errors.New("broadcast: the window of unstable messages is full")
	ErrTooLarge   = errors.New("broadcast: the payload is larger than MaxPayload")
	ErrOptions    = errors.New("broadcast: Options have an unknown order or atomicity")
	ErrNoQuorum   = errors.New("broadcast: the view has no quorum of the configured group (RequireQuorum)")
	ErrLeaving    = errors.New("broadcast: this node leaves because its deliveries were taken too slowly")
)
