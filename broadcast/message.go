package broadcast

import (
	"errors"
	"fmt"
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/enum"
	"github.com/failaware/failaware/timed"
)

// Order is the order in which members deliver messages. The zero Order is TotalOrder.
type Order uint8

const (
	// TotalOrder: one order, the same at all members of the view.
	TotalOrder Order = iota
	// TimedOrder: within that one order, sorted by synchronized send time, then by
	// sender.
	TimedOrder
	// Unordered: in the order of sending for each sender, and in no other order.
	Unordered
)

func (o Order) String() string {
	switch o {
	case TotalOrder:
		return "total"
	case TimedOrder:
		return "timed"
	case Unordered:
		return "unordered"
	}
	return fmt.Sprintf("order %d", uint8(o))
}

// MarshalText returns the text of [Order.String].
func (o Order) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads the text of [Order.String].
func (o *Order) UnmarshalText(text []byte) error { return enum.Unmarshal(o, text, Unordered) }

// Atomicity is the condition for delivering a message. The zero Atomicity is
// StrongAtomicity.
type Atomicity uint8

const (
	// StrongAtomicity: more than half of the view's members have the message, and in
	// a view that holds a quorum of [Config].Quorum, a quorum.
	StrongAtomicity Atomicity = iota
	// StrictAtomicity: all of the view's members have the message.
	StrictAtomicity
	// WeakAtomicity: no condition.
	WeakAtomicity
	atomicities
)

func (a Atomicity) String() string {
	switch a {
	case StrongAtomicity:
		return "strong"
	case StrictAtomicity:
		return "strict"
	case WeakAtomicity:
		return "weak"
	}
	return fmt.Sprintf("atomicity %d", uint8(a))
}

// MarshalText returns the text of [Atomicity.String].
func (a Atomicity) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads the text of [Atomicity.String].
func (a *Atomicity) UnmarshalText(text []byte) error { return enum.Unmarshal(a, text, WeakAtomicity) }

// Options are chosen for each message. Zero Options mean TotalOrder and
// StrongAtomicity.
type Options struct {
	Order     Order
	Atomicity Atomicity
}

// Valid reports whether both choices exist.
func (o Options) Valid() bool { return o.Order <= Unordered && o.Atomicity <= WeakAtomicity }

// Class separates the sequences of a sender, so that messages without an order do not wait
// for those with one.
type Class uint8

const (
	// ClassUnordered holds the Unordered messages.
	ClassUnordered Class = iota
	// ClassOrdered holds the messages of TotalOrder and TimedOrder.
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

// ID names a message. It is assigned once and survives view changes. Sequence is that of
// the last fragment, in the sender's class.
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
	// ordered in. The members that move together to the next view all deliver it, in
	// the same order. Another branch of the group may order it anew, at another
	// place.
	Transitional bool
	// Flushed: the view has ended before the stamp of the message could be compared with
	// all others. Members that do not move together may deliver other messages at this
	// Position and the later ones.
	Flushed bool
	// Position counts the ordered messages of the view from 1; 0 for Unordered messages. It
	// is the same at all members, up to the first message that is Flushed.
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
	ErrNoQuorum   = errors.New("broadcast: the view holds no quorum, which the order needs")
	ErrLeaving    = errors.New("broadcast: this node leaves because its deliveries were taken too slowly")
)
