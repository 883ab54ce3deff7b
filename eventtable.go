package failaware

import (
	"reflect"

	"github.com/hashicorp/go-hclog"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/life"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/leader/epoch"
)

// eventRow says which events of the stack become events of one type. Their name, text
// and fields in the API are those of the type, in package event.
type eventRow struct {
	typ   reflect.Type
	level hclog.Level // in the log
	of    stack.EventKind
	make  func(n *Node, h event.Header, e *stack.Event) event.Event
}

// eventTable has one row for each event of the stack that the loop does not keep for
// itself.
var eventTable = []eventRow{
	row(hclog.Info, stack.EventReady, func(_ *Node, h event.Header, e *stack.Event) event.Ready {
		return event.Ready{Header: h, Boot: e.Boot}
	}),
	row(hclog.Debug, stack.EventPeerAlive, func(_ *Node, h event.Header, e *stack.Event) event.PeerAlive {
		return event.PeerAlive{Header: h, Peer: e.Peer, Bound: e.Bound}
	}),
	row(hclog.Debug, stack.EventPeerSilent, func(_ *Node, h event.Header, e *stack.Event) event.PeerSilent {
		return event.PeerSilent{Header: h, Peer: e.Peer, SilentFor: e.Age, LastBound: e.Bound, Deaf: e.Deaf}
	}),
	row(hclog.Info, stack.EventPeerRestarted, func(_ *Node, h event.Header, e *stack.Event) event.PeerRestarted {
		return event.PeerRestarted{Header: h, Peer: e.Peer, Boot: e.Boot}
	}),
	row(hclog.Info, stack.EventPeerLeaving, func(_ *Node, h event.Header, e *stack.Event) event.PeerLeaving {
		return event.PeerLeaving{Header: h, Peer: e.Peer, Boot: e.Boot, ForGood: e.ForGood}
	}),
	row(hclog.Warn, stack.EventTwins, func(_ *Node, h event.Header, e *stack.Event) event.PeerCloned {
		return event.PeerCloned{Header: h, Peer: e.Peer, Boot: e.Boot}
	}),
	row(hclog.Warn, stack.EventRival, func(_ *Node, h event.Header, e *stack.Event) event.PeerDuplicated {
		return event.PeerDuplicated{Header: h, Peer: e.Peer, Boot: e.Boot, Addr: e.Text}
	}),
	row(hclog.Warn, stack.EventPeerForgot, func(_ *Node, h event.Header, e *stack.Event) event.PeerForgot {
		return event.PeerForgot{Header: h, Peer: e.Peer, Boot: e.Boot, Starts: e.Starts, Before: e.Before}
	}),
	row(hclog.Warn, stack.EventMismatch, func(n *Node, h event.Header, e *stack.Event) event.Mismatch {
		return event.Mismatch{Header: h, Peer: e.Peer, Addr: e.Text, Elsewhere: e.Elsewhere,
			Differences: n.differences(settingsOf(e))}
	}),
	row(hclog.Info, stack.EventElected, func(_ *Node, h event.Header, e *stack.Event) event.Elected {
		return event.Elected{Header: h}
	}),
	row(hclog.Info, stack.EventLeadLost, func(_ *Node, h event.Header, e *stack.Event) event.LeadLost {
		return event.LeadLost{Header: h, Reason: e.Lost, By: e.Peer}
	}),
	row(hclog.Info, stack.EventFollowing, func(_ *Node, h event.Header, e *stack.Event) event.Following {
		return event.Following{Header: h, Leader: e.Peer, Boot: e.Boot}
	}),
	row(hclog.Warn, stack.EventUnfit, func(_ *Node, h event.Header, e *stack.Event) event.Unfit {
		return event.Unfit{Header: h}
	}),
	row(hclog.Info, stack.EventGlobalElected, func(_ *Node, h event.Header, e *stack.Event) event.Elected {
		return event.Elected{Header: h, Global: true}
	}),
	row(hclog.Info, stack.EventGlobalLost, func(_ *Node, h event.Header, e *stack.Event) event.LeadLost {
		return event.LeadLost{Header: h, Global: true, Reason: e.Lost, By: e.Peer}
	}),
	row(hclog.Warn, stack.EventOtherQuorum, func(n *Node, h event.Header, e *stack.Event) event.OtherQuorum {
		return event.OtherQuorum{Header: h, Peer: e.Peer, Epoch: e.Quorum.Epoch, Digest: e.Quorum.Digest, Differences: n.quorumDifferences(e.Settings)}
	}),
	row(hclog.Info, stack.EventEpoch, func(_ *Node, h event.Header, e *stack.Event) event.QuorumChange {
		return event.QuorumChange{Header: h, Step: quorumSteps[e.Change.Kind], Epoch: e.Change.Epoch, System: e.Change.System, Peer: e.Change.Peer}
	}),
	row(hclog.Info, stack.EventViewInstalled, func(_ *Node, h event.Header, e *stack.Event) event.ViewInstalled {
		return event.ViewInstalled{Header: h, View: e.View, Previous: e.Previous, Transitional: e.View.Transitional(e.Previous), Merged: e.View.Merged()}
	}),
	row(hclog.Debug, stack.EventViewFresh, func(_ *Node, h event.Header, e *stack.Event) event.ViewFresh {
		return event.ViewFresh{Header: h, View: someView(e.View).ID}
	}),
	row(hclog.Debug, stack.EventViewStale, func(_ *Node, h event.Header, e *stack.Event) event.ViewStale {
		return event.ViewStale{Header: h, View: someView(e.View).ID, Reason: e.Stale, By: e.Peer}
	}),
	row(hclog.Debug, stack.EventClockAdopted, func(_ *Node, h event.Header, e *stack.Event) event.ClockAdopted {
		return event.ClockAdopted{Header: h, Timeline: e.Timeline, Parent: e.Parent}
	}),
	row(hclog.Warn, stack.EventClockStepped, func(n *Node, h event.Header, e *stack.Event) event.ClockStepped {
		return event.ClockStepped{Header: h, Previous: n.timeline, Timeline: e.Timeline, Parent: e.Parent, Step: e.Step}
	}),
	row(hclog.Warn, stack.EventClockFault, func(_ *Node, h event.Header, e *stack.Event) event.ClockFault {
		return event.ClockFault{Header: h, Peer: e.Peer, Boot: e.Boot, Bound: e.Bound}
	}),
	row(hclog.Info, stack.EventUTCChanged, func(_ *Node, h event.Header, e *stack.Event) event.UTCChanged {
		return event.UTCChanged{Header: h, State: e.UTC}
	}),
	row(hclog.Warn, stack.EventFalseticker, func(n *Node, h event.Header, e *stack.Event) event.Falseticker {
		return event.Falseticker{Header: h, Name: n.nameOf(e.Source), Source: e.Source, Node: e.Peer, Off: e.Step}
	}),
	row(hclog.Info, stack.EventTruechimer, func(n *Node, h event.Header, e *stack.Event) event.Truechimer {
		return event.Truechimer{Header: h, Name: n.nameOf(e.Source), Source: e.Source, Node: e.Peer}
	}),
	row(hclog.Warn, stack.EventSlowConsumer, func(n *Node, h event.Header, e *stack.Event) event.SlowConsumer {
		return event.SlowConsumer{Header: h, View: someView(e.View).ID, Backlog: n.backlog()}
	}),
	row(hclog.Warn, stack.EventStampAhead, func(_ *Node, h event.Header, e *stack.Event) event.StampAhead {
		return event.StampAhead{Header: h, View: someView(e.View).ID, Peer: e.Peer, By: e.Step}
	}),
	row(hclog.Error, stack.EventUnsent, func(_ *Node, h event.Header, e *stack.Event) event.PacketUnsent {
		return event.PacketUnsent{Header: h, Peer: e.Peer, Reason: e.Text}
	}),
	row(hclog.Error, stack.EventInconsistent, func(_ *Node, h event.Header, e *stack.Event) event.Inconsistent {
		return event.Inconsistent{Header: h, Invariant: e.Text}
	}),
}

func row[E event.Event](level hclog.Level, of stack.EventKind, make func(*Node, event.Header, *stack.Event) E) eventRow {
	return eventRow{typ: reflect.TypeFor[E](), level: level, of: of,
		make: func(n *Node, h event.Header, e *stack.Event) event.Event { return make(n, h, e) }}
}

// eventOf has the rows by the events of the stack that they are made of.
var eventOf = func() map[stack.EventKind]*eventRow {
	of := map[stack.EventKind]*eventRow{}
	for i := range eventTable {
		of[eventTable[i].of] = &eventTable[i]
	}
	return of
}()

// levelOf returns the level of an event in the log: that of its type, unless the event
// is more or less important than others of the type.
func (n *Node) levelOf(e event.Event) hclog.Level {
	switch e := e.(type) {
	case event.Missed:
		return hclog.Warn
	case event.Restarted:
		if e.Reason != event.NewEpoch {
			return hclog.Warn
		}
		return hclog.Info
	case event.QuorumChange:
		if e.Step.Wrong() {
			return hclog.Warn
		}
	case event.UTCChanged:
		if e.State == clocksync.UTCDisputed {
			return hclog.Warn
		}
	case event.ClockStepped:
		// Nobody was shown the earlier time, or nobody can tell it from the new one: a
		// synchronized clock may be wrong by as much.
		if e.Previous.None() || e.Step.Abs() <= n.cfg.Clock.MaxDeviation {
			return hclog.Info
		}
	}
	return levels[reflect.TypeOf(e)]
}

// levels are the levels of the types of events.
var levels = func() map[reflect.Type]hclog.Level {
	levels := map[reflect.Type]hclog.Level{}
	for i := range eventTable {
		levels[eventTable[i].typ] = eventTable[i].level
	}
	return levels
}()

var quorumSteps = map[epoch.EventKind]event.QuorumStep{epoch.Proposed: event.QuorumProposed, epoch.Superseded: event.QuorumSuperseded,
	epoch.Decided: event.QuorumDecided, epoch.Entered: event.QuorumEntered, epoch.DeclaredDead: event.QuorumDead,
	epoch.Conflict: event.QuorumConflict, epoch.Unordered: event.QuorumUnordered}

var restartReasons = [...]event.RestartReason{life.None: "", life.Suspended: event.Suspended, life.ClockBackwards: event.ClockBackwards,
	life.ClockRate: event.ClockRate, life.PeersContradict: event.PeersContradict, life.Overrun: event.Overrun,
	life.Inconsistent: event.InvariantBroken, life.NewEpoch: event.NewEpoch, life.LateState: event.LateState}
