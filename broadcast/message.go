package broadcast

import (
	"errors"
	"fmt"
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// Order says in which order members deliver messages.
type Order uint8

const (
	// Unordered: in the order of sending for each sender, and no other.
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

// Atomicity says what must be known before a member delivers a message.
type Atomicity uint8

const (
	// Weak: nothing.
	Weak Atomicity = iota
	// Strong: that more than half of the view's members have it.
	Strong
	// Strict: that all of the view's members have it.
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

// Class separates the sequences of a sender: messages without an order do not
// wait for those with one.
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

// ID names a message for good: it is given once, and kept over views. Sequence
// is that of its last fragment, in the sender's class.
type ID struct {
	Sender   timed.NodeID
	Class    Class
	Boot     timed.BootID
	Sequence uint64
}

func (id ID) String() string {
	c := "u"
	if id.Class == ClassOrdered {
		c = "o"
	}
	return fmt.Sprintf("%d/%08x/%s%d", id.Sender, uint32(id.Boot>>32), c, id.Sequence)
}

// MaxSequence bounds sequences and decision numbers on the wire.
const MaxSequence = 1 << 62

// Delivery is one message for the application.
type Delivery struct {
	ID
	Options
	// Transitional: the atomicity was not reached in the view that the message
	// was ordered in; it comes with the members that move to the next view.
	Transitional bool
	// Position counts the ordered messages of the view, from 1, the same at all
	// members; 0 for Unordered ones.
	Position uint64
	// Stamp is the group time of sending, wrong by at most Deviation when the
	// sender's clock was synchronized ([clocksync.UnknownBound] otherwise).
	Stamp     clocksync.Time
	Deviation time.Duration
	// Payload is borrowed until Reclaim, or longer with Borrow. It must not be
	// written to.
	Payload []byte
	home    *chunk // of the payload, unless that is empty
}

// Kind tells effects apart.
type Kind uint8

const (
	// Send: send Packet to the member To, or to all other members if To is
	// none. The packet is valid until the next call of Reclaim.
	Send Kind = iota + 1
	// Deliver: Deliveries are for the application, in View. They are valid until
	// the next call of Reclaim. A delivery whose sender is this incarnation is
	// at the same time the outcome of the broadcast.
	Deliver
	// Transition: what follows in View is transitional: it comes with Along, the
	// members that move together to Next, and not with the others.
	Transition
	// Installed: View is the view from now on.
	Installed
	// Elsewhere: own messages of Class, From through To, were ordered in another
	// branch of the group, whose deliveries this node cannot know: their outcome
	// is unknown, and they will not be sent again.
	Elsewhere
	// Slow: the application takes deliveries too slowly, and acknowledgements
	// have stopped; Backlog bytes wait.
	Slow
	// Overrun: it went on for too long. This incarnation must leave, so that the
	// others need not wait for it.
	Overrun
)

// Effect is something for the caller to do, in order. Which fields count depends
// on the kind.
type Effect struct {
	Kind       Kind
	To         timed.NodeID
	Packet     *Packet
	View       *membership.View
	Next       *membership.View
	Along      timed.Set
	Deliveries []Delivery
	Class      Class
	From       uint64
	Through    uint64
	Backlog    int
}

// What Broadcast can refuse.
var (
	ErrWindowFull = errors.New("broadcast: the window of unstable messages is full")
	ErrTooLarge   = errors.New("broadcast: the payload is larger than MaxPayload")
	ErrOptions    = errors.New("broadcast: Options name no order or atomicity that exists")
	ErrNoQuorum   = errors.New("broadcast: the view has no quorum of the configured group (RequireQuorum)")
	ErrLeaving    = errors.New("broadcast: this node leaves, because its deliveries were taken too slowly")
)
