package stack

import (
	"fmt"

	"github.com/failaware/failaware/leader/epoch"
)

// String describes the event, for a trace. The text for users is that of the event's type
// in package event.
func (e *Event) String() string {
	if int(e.Kind) < len(eventTexts) && eventTexts[e.Kind] != nil {
		return eventTexts[e.Kind](e)
	}
	return fmt.Sprintf("event %d", e.Kind)
}

var eventTexts = [...]func(*Event) string{
	EventReady:     func(*Event) string { return "ready" },
	EventPeerAlive: func(e *Event) string { return fmt.Sprintf("hears node %d", e.Peer) },
	EventPeerSilent: func(e *Event) string {
		text := fmt.Sprintf("no longer hears node %d", e.Peer)
		if e.Age != 0 {
			text += fmt.Sprintf(", whose last fast packet is %v old", e.Age)
		}
		return text
	},
	EventPeerRestarted: func(e *Event) string { return fmt.Sprintf("node %d has restarted", e.Peer) },
	EventPeerLeaving:   func(e *Event) string { return fmt.Sprintf("node %d leaves", e.Peer) },
	EventElected:       func(e *Event) string { return fmt.Sprintf("LEADS %v", e.Support) },
	EventLeadLost:      func(e *Event) string { return fmt.Sprintf("leads no more: %v (by %v)", e.Lost, e.Peer) },
	EventFollowing:     func(e *Event) string { return fmt.Sprintf("follows %v", e.Peer) },
	EventUnfit:         func(*Event) string { return "is too slow to lead its peers" },
	EventViewInstalled: func(e *Event) string { return fmt.Sprintf("VIEW %v %v, from %v", e.View.ID, e.View.Set, e.Previous) },
	EventViewFresh:     func(e *Event) string { return fmt.Sprintf("view %v is up to date", e.View.ID) },
	EventViewStale:     func(e *Event) string { return fmt.Sprintf("view %v is stale: %v (by %v)", e.View.ID, e.Stale, e.Peer) },
	EventClockAdopted:  func(e *Event) string { return fmt.Sprintf("follows time %v", e.Timeline) },
	EventClockStepped:  func(e *Event) string { return fmt.Sprintf("steps by %v to time %v", e.Step, e.Timeline) },
	EventClockFault:    func(e *Event) string { return fmt.Sprintf("clock fault with node %d, bound %v", e.Peer, e.Bound) },
	EventMismatch:      func(e *Event) string { return fmt.Sprintf("node %d has other settings", e.Peer) },
	EventTwins:         func(e *Event) string { return fmt.Sprintf("node %d is two processes with one boot id", e.Peer) },
	EventRival: func(e *Event) string {
		return fmt.Sprintf("the id of node %d is in use by another process too", e.Peer)
	},
	EventDuplicateID: func(*Event) string { return "its id is in use by another process" },
	EventUTCChanged:  func(e *Event) string { return fmt.Sprintf("UTC is %v", e.UTC) },
	EventFalseticker: func(e *Event) string {
		return fmt.Sprintf("server %d of node %v is a falseticker, off by %v", e.Source, e.Peer, e.Step)
	},
	EventTruechimer: func(e *Event) string {
		return fmt.Sprintf("server %d of node %v is no longer a falseticker", e.Source, e.Peer)
	},
	EventNewEpoch:     func(*Event) string { return "begins again in another epoch" },
	EventRestart:      func(*Event) string { return "blames its own clock" },
	EventSlowConsumer: func(*Event) string { return "its application is slow" },
	EventStampAhead: func(e *Event) string {
		return fmt.Sprintf("cuts the stamps of node %d by %v", e.Peer, e.Step)
	},
	EventGlobalElected: func(e *Event) string { return fmt.Sprintf("LEADS GLOBALLY, with the votes of %v", e.Support) },
	EventGlobalLost:    func(e *Event) string { return fmt.Sprintf("leads globally no more: %v (by %v)", e.Lost, e.Peer) },
	EventVerified: func(e *Event) string {
		return fmt.Sprintf("node %d answers how long it leads: %v, globally %v", e.Peer, e.Assurance.Local, e.Assurance.Global)
	},
	EventOtherQuorum: func(e *Event) string { return fmt.Sprintf("node %d votes in another quorum system", e.Peer) },
	EventEpoch: func(e *Event) string {
		return fmt.Sprintf("epoch %d: %s %s", e.Change.Epoch, changeTexts[e.Change.Kind], e.Change.System)
	},
	EventPeerForgot: func(e *Event) string {
		return fmt.Sprintf("node %d has forgotten: %d starts after %d", e.Peer, e.Starts, e.Before)
	},
	EventUnsent:       func(e *Event) string { return fmt.Sprintf("cannot encode a packet for node %d: %s", e.Peer, e.Text) },
	EventInconsistent: func(e *Event) string { return "breaks an invariant: " + e.Text },
	EventOverrun:      func(*Event) string { return "must leave: its application is too slow" },
}

var changeTexts = [...]string{epoch.Proposed: "proposes", epoch.Superseded: "another is proposed:",
	epoch.Decided: "the successor is", epoch.Entered: "is entered, ruled by", epoch.DeclaredDead: "is declared dead, for",
	epoch.Conflict: "CONFLICT with", epoch.Unordered: "proposals do not compare"}
