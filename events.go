package failaware

import (
	"fmt"
	"time"

	"github.com/failaware/failaware/datagram"
)

// Event is something that happened to a node. It is one of the types of this
// package that embed [EventHeader]; a type switch tells them apart. Events are
// immutable values, but they share views and branches, which must not be changed.
//
// Fields of events have tags that name the fields of the same event in the local API.
// The tag of an EventHeader stands for the node whose event it is, or for the event's
// text.
type Event interface {
	// Header returns the fields that all events have.
	Header() EventHeader
	// Kind returns a short stable name, as in "lead-lost".
	Kind() string
	// String says what happened, and why, in plain English.
	String() string
	event()
}

// EventHeader is what all events have.
type EventHeader struct {
	// Sequence numbers the events of one process from 1, without gaps.
	Sequence uint64
	// Time is the system's wall clock when the node noticed. It is for people: nothing
	// is decided by it, and it can jump.
	Time time.Time
}

// Header returns the header.
func (h EventHeader) Header() EventHeader { return h }

func (EventHeader) event() {}

// UnknownDelay stands for a delay bound that is not known.
const UnknownDelay = datagram.Unknown

func boundText(d time.Duration) string {
	if d == UnknownDelay {
		return "unknown"
	}
	return brief(d)
}

// brief rounds a duration for people.
func brief(d time.Duration) string {
	if d.Abs() < time.Millisecond {
		return d.Round(100 * time.Nanosecond).String()
	}
	return d.Round(10 * time.Microsecond).String()
}

// by names a cause, if there is one.
func by(id NodeID) string {
	if id == NoNode {
		return ""
	}
	return fmt.Sprintf(" (by node %v)", id)
}
