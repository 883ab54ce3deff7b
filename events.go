package failaware

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/stack"
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

// Events returns an iterator over the events from the call of Events on. It waits
// for events, and ends when ctx is done, or when the node has stopped and all events
// were delivered. Any number of consumers may iterate at the same time, each in its
// own goroutine. A consumer that falls behind by more than [Config.EventBuffer]
// events gets a [Missed] instead of the oldest ones; no consumer ever holds up the
// node.
func (n *Node) Events(ctx context.Context) iter.Seq[Event] {
	return n.EventsSince(ctx, n.events.Last())
}

// EventsSince is as [Node.Events], from the first event on that has a larger
// sequence number than seq and is still kept; 0 asks for all that are kept. A number
// that this process has not reached yet comes from another one, and counts as 0.
func (n *Node) EventsSince(ctx context.Context, seq uint64) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		seq := seq // each iteration starts there again
		if seq > n.events.Last() {
			seq = 0
		}
		for n.events.Wait(ctx, seq) {
			e, at, missed, ok := n.events.After(seq)
			if !ok {
				continue
			}
			if missed > 0 {
				e = Missed{EventHeader{at, time.Now()}, missed}
			}
			if seq = at; !yield(e) {
				return
			}
		}
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// eventRow is the row of the table for one kind of event. Its name, its text and its
// fields in the API are those of its type.
type eventRow struct {
	zero  Event
	level hclog.Level // in the log
	// of is the event of the stack that make turns into one of this kind; 0 if there is
	// none.
	of   stack.EventKind
	make func(n *Node, h EventHeader, e *stack.Event) Event
}

// eventTable has one row for each kind of event.
var eventTable = []eventRow{
	row(hclog.Info, stack.EventReady, func(_ *Node, h EventHeader, e *stack.Event) Ready {
		return Ready{h, e.Boot}
	}),
	row(hclog.Debug, stack.EventPeerAlive, func(_ *Node, h EventHeader, e *stack.Event) PeerAlive {
		return PeerAlive{h, e.Peer, e.Bound}
	}),
	row(hclog.Debug, stack.EventPeerSilent, func(_ *Node, h EventHeader, e *stack.Event) PeerSilent {
		return PeerSilent{h, e.Peer, e.Age, e.Bound, e.Deaf}
	}),
	row(hclog.Info, stack.EventPeerRestarted, func(_ *Node, h EventHeader, e *stack.Event) PeerRestarted {
		return PeerRestarted{h, e.Peer, e.Boot}
	}),
	row(hclog.Info, stack.EventPeerLeaving, func(_ *Node, h EventHeader, e *stack.Event) PeerLeaving {
		return PeerLeaving{h, e.Peer, e.Boot}
	}),
	row(hclog.Warn, stack.EventTwins, func(_ *Node, h EventHeader, e *stack.Event) PeerCloned {
		return PeerCloned{h, e.Peer, e.Boot}
	}),
	row(hclog.Warn, stack.EventMismatch, func(n *Node, h EventHeader, e *stack.Event) Mismatch {
		return Mismatch{h, e.Peer, n.mismatch(e.Peer, e.MaxDrift, e.FastThreshold)}
	}),
	row(hclog.Info, stack.EventElected, func(_ *Node, h EventHeader, e *stack.Event) Elected {
		return Elected{h}
	}),
	row(hclog.Info, stack.EventLeadLost, func(_ *Node, h EventHeader, e *stack.Event) LeadLost {
		return LeadLost{h, e.Lost, e.Peer}
	}),
	row(hclog.Info, stack.EventFollowing, func(_ *Node, h EventHeader, e *stack.Event) Following {
		return Following{h, e.Peer, e.Boot}
	}),
	row(hclog.Warn, stack.EventUnfit, func(_ *Node, h EventHeader, e *stack.Event) Unfit {
		return Unfit{h}
	}),
	row(hclog.Info, stack.EventGlobalElected, func(_ *Node, h EventHeader, e *stack.Event) GlobalElected {
		return GlobalElected{h}
	}),
	row(hclog.Info, stack.EventGlobalLost, func(_ *Node, h EventHeader, e *stack.Event) GlobalLost {
		return GlobalLost{h, e.Lost, e.Peer}
	}),
	row(hclog.Warn, stack.EventOtherQuorum, func(_ *Node, h EventHeader, e *stack.Event) OtherQuorum {
		return OtherQuorum{h, e.Peer, e.Quorum.Epoch, e.Quorum.Digest}
	}),
	row(hclog.Info, stack.EventEpoch, func(_ *Node, h EventHeader, e *stack.Event) QuorumChange {
		return QuorumChange{h, quorumSteps[e.Change.Kind], e.Change.Epoch, e.Change.System, e.Change.Peer}
	}),
	row(hclog.Info, stack.EventViewInstalled, func(_ *Node, h EventHeader, e *stack.Event) ViewInstalled {
		return ViewInstalled{h, e.View, e.Previous, e.View.Transitional(e.Previous), e.View.Merged()}
	}),
	row(hclog.Debug, stack.EventViewFresh, func(_ *Node, h EventHeader, e *stack.Event) ViewFresh {
		return ViewFresh{h, viewID(e.View)}
	}),
	row(hclog.Debug, stack.EventViewStale, func(_ *Node, h EventHeader, e *stack.Event) ViewStale {
		return ViewStale{h, viewID(e.View), e.Stale, e.Peer}
	}),
	row(hclog.Debug, stack.EventClockAdopted, func(_ *Node, h EventHeader, e *stack.Event) ClockAdopted {
		return ClockAdopted{h, e.Timeline, e.Parent}
	}),
	row(hclog.Warn, stack.EventClockStepped, func(_ *Node, h EventHeader, e *stack.Event) ClockStepped {
		return ClockStepped{h, e.Timeline, e.Parent, e.Step}
	}),
	row(hclog.Warn, stack.EventClockFault, func(_ *Node, h EventHeader, e *stack.Event) ClockFault {
		return ClockFault{h, e.Peer, e.Boot, e.Bound}
	}),
	row(hclog.Info, stack.EventUTCChanged, func(_ *Node, h EventHeader, e *stack.Event) UTCChanged {
		return UTCChanged{h, e.UTC}
	}),
	row(hclog.Warn, stack.EventFalseticker, func(n *Node, h EventHeader, e *stack.Event) Falseticker {
		return Falseticker{h, n.nameOf(e.Source), e.Source, e.Peer, e.Step}
	}),
	row(hclog.Info, stack.EventTruechimer, func(n *Node, h EventHeader, e *stack.Event) Truechimer {
		return Truechimer{h, n.nameOf(e.Source), e.Source, e.Peer}
	}),
	row(hclog.Warn, stack.EventSlowConsumer, func(n *Node, h EventHeader, e *stack.Event) SlowConsumer {
		return SlowConsumer{h, viewID(e.View), n.backlog()}
	}),
	{zero: Restarted{}, level: hclog.Warn},
	{zero: Missed{}, level: hclog.Warn},
}

func row[E Event](level hclog.Level, of stack.EventKind, make func(*Node, EventHeader, *stack.Event) E) eventRow {
	var zero E
	return eventRow{zero: zero, level: level, of: of,
		make: func(n *Node, h EventHeader, e *stack.Event) Event { return make(n, h, e) }}
}

var eventOf, levels = indexEvents(eventTable)

// indexEvents returns the rows by the events of the stack that they are made of, and
// the levels by the names of the kinds.
func indexEvents(table []eventRow) (of map[stack.EventKind]*eventRow, levels map[string]hclog.Level) {
	of, levels = map[stack.EventKind]*eventRow{}, map[string]hclog.Level{}
	for i := range table {
		r := &table[i]
		if r.of != 0 {
			of[r.of] = r
		}
		levels[r.zero.Kind()] = r.level
	}
	return of, levels
}

// levelOf returns the level of an event in the log.
func levelOf(e Event) hclog.Level {
	if c, ok := e.(QuorumChange); ok && c.Step.wrong() {
		return hclog.Warn
	}
	return levels[e.Kind()]
}

// backlog returns how many bytes of deliveries wait for the application.
func (n *Node) backlog() int64 {
	if q := n.loop.Deliveries(); q != nil {
		return q.Backlog()
	}
	return 0
}

// logEvents writes events to the log. It runs in a goroutine of its own, because a
// log may block and the loop must not.
func (n *Node) logEvents() {
	for e := range n.EventsSince(context.Background(), 0) {
		n.log.Log(levelOf(e), e.String(), "event", e.Kind(), "sequence", e.Header().Sequence)
	}
}

// judgeRate takes a new verdict on the rate of the kernel's clock.
func (n *Node) judgeRate(v hwclock.Verdict, s hwclock.Status) {
	n.log.Warn("the rate error of the hardware clock is "+v.String(),
		"ppb", s.RateError, "maxdrift", int64(n.cfg.Timing.MaxDrift))
	n.loop.JudgeRate(v)
}
