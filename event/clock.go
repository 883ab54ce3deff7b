package event

import (
	"fmt"
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/timed"
)

// ClockAdopted says that the clock follows another timeline, without a jump.
type ClockAdopted struct {
	Header
	Timeline clocksync.TimelineID `api:"timeline"` // that the clock follows now
	Parent   clocksync.TimelineID `api:"parent"`   // that Timeline continues; none if it continues none
}

// Kind returns "clock-adopted".
func (ClockAdopted) Kind() string { return "clock-adopted" }

func (e ClockAdopted) String() string {
	return fmt.Sprintf("the clock follows timeline %v", e.Timeline)
}

// ClockStepped says that the clock follows another timeline, and jumped by Step. Readings
// on the two timelines compare by UTC only.
type ClockStepped struct {
	Header
	// Previous is the timeline that the clock followed before; none at first, when no
	// reading of this incarnation was on any.
	Previous clocksync.TimelineID
	Timeline clocksync.TimelineID `api:"timeline"` // that the clock follows now
	Parent   clocksync.TimelineID `api:"parent"`   // that Timeline continues; none if it continues none
	Step     time.Duration        `api:"step_ns"`
}

// Kind returns "clock-stepped".
func (ClockStepped) Kind() string { return "clock-stepped" }

func (e ClockStepped) String() string {
	if e.Previous.None() {
		return fmt.Sprintf("the clock stepped by %v to timeline %v", e.Step, e.Timeline)
	}
	return fmt.Sprintf("the clock stepped by %v from timeline %v to timeline %v", e.Step, e.Previous, e.Timeline)
}

// ClockFault says that the hardware clocks of this node and of Peer contradict the drift
// bound ρ. The two are not alive to each other until votes and leases that rest on former
// measurements are over. They measure anew then. Each further contradiction within an hour
// separates them for twice as long, up to ten minutes.
type ClockFault struct {
	Header
	Peer  timed.NodeID  `api:"peer"`
	Boot  timed.BootID  `api:"boot"`     // of the peer
	Bound time.Duration `api:"bound_ns"` // the delay bound that came out, or [UnknownDelay]
}

// Kind returns "clock-fault".
func (ClockFault) Kind() string { return "clock-fault" }

func (e ClockFault) String() string {
	return fmt.Sprintf("clock fault: the clocks of this node and of %s contradict the drift bound (delay bound %s)",
		e.node(e.Peer), boundText(e.Bound))
}

// UTCChanged says that the knowledge of UTC has changed, and is State from now on. Bounds
// that grow too wide with time cause no event.
type UTCChanged struct {
	Header
	State clocksync.UTCState `api:"state"`
}

// Kind returns "clock-utc".
func (UTCChanged) Kind() string { return "clock-utc" }

func (e UTCChanged) String() string {
	switch e.State {
	case clocksync.UTCKnown:
		return "UTC is known: most references agree"
	case clocksync.UTCDisputed:
		return "UTC is not known: no majority of the references agrees"
	}
	return "UTC is not known"
}

// Falseticker says that an external reference contradicts most references, and is left out.
type Falseticker struct {
	Header
	Name   string             `api:"name"` // as configured; empty if only another node knows it
	Source clocksync.SourceID `api:"source"`
	Node   timed.NodeID       `api:"peer"`    // that asks it
	Off    time.Duration      `api:"step_ns"` // of the middle of its interval from that of the others
}

// Kind returns "clock-falseticker".
func (Falseticker) Kind() string { return "clock-falseticker" }

func (e Falseticker) String() string {
	return fmt.Sprintf("%s is a falseticker: it is off by %v from what most references say", referenceText(e.Name, e.Source, e.node(e.Node)), e.Off)
}

// Truechimer says that a falseticker agrees with the others again.
type Truechimer struct {
	Header
	Name   string             `api:"name"` // as configured; empty if only another node knows it
	Source clocksync.SourceID `api:"source"`
	Node   timed.NodeID       `api:"peer"` // that asks it
}

// Kind returns "clock-truechimer".
func (Truechimer) Kind() string { return "clock-truechimer" }

func (e Truechimer) String() string {
	return fmt.Sprintf("%s agrees with most references again", referenceText(e.Name, e.Source, e.node(e.Node)))
}

func referenceText(name string, source clocksync.SourceID, node string) string {
	if name == "" {
		name = fmt.Sprintf("%016x", uint64(source))
	}
	return fmt.Sprintf("reference %s of %s", name, node)
}
