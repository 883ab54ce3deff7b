// Package event has the events of a node (Node.Events of package failaware): one struct for
// each kind, told apart by a type switch.
//
//	for e := range n.Events(ctx) {
//		switch e := e.(type) {
//		case event.Elected:
//			…
//		case event.ViewInstalled:
//			fmt.Println(e.View.Set, "are in the group:", e)
//		}
//	}
//
// By subject:
//
//   - this node: [Ready], [Restarted], [Inconsistent], [Unfit], [PacketUnsent], [Missed];
//   - its peers: [PeerAlive], [PeerSilent], [PeerRestarted], [PeerCloned], [PeerDuplicated], [PeerForgot],
//     [PeerLeaving], [Mismatch], [OtherQuorum];
//   - leaders: [Following], [Elected], [LeadLost], [QuorumChange];
//   - views: [ViewInstalled], [ViewFresh], [ViewStale];
//   - clocks: [ClockAdopted], [ClockStepped], [ClockFault], [UTCChanged], [Falseticker],
//     [Truechimer];
//   - the broadcast: [SlowConsumer], [StampAhead].
package event

import (
	"time"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/brief"
	"github.com/failaware/failaware/timed"
)

// Event is something that happened to a node. It is one of the types of this
// package that embed [Header]; a type switch tells them apart. Events are immutable
// values, but they share views and branches, which must not be changed.
//
// Fields of events have tags that name the fields of the same event in the local API.
// The tag of a Header stands for the node whose event it is, or for the event's text.
type Event interface {
	// Head returns the fields that all events have.
	Head() Header
	// Kind returns a short stable name, as in "lead-lost".
	Kind() string
	// String says what happened, and why, in plain English.
	String() string
	event()
}

// Header is the common part of all events.
type Header struct {
	// Sequence numbers the events of one process from 1, without gaps.
	Sequence uint64
	// Time is the system's wall clock when the node noticed. It is for people: nothing
	// is decided by it, and it can jump.
	Time time.Time
	// Names, if not nil, gives the names of nodes in the texts of events.
	Names Names
}

// Names gives the names of nodes. A node of package failaware implements it.
type Names interface {
	// NameOf returns the name of a node, or "node-ID" if it is not known.
	NameOf(id timed.NodeID) string
}

// Head returns the header.
func (h Header) Head() Header { return h }

func (Header) event() {}

// UnknownDelay stands for a delay bound that is not known.
const UnknownDelay = datagram.Unknown

func boundText(d time.Duration) string {
	if d == UnknownDelay {
		return "unknown"
	}
	return brief.Duration(d)
}

// NodeText names a node by its id and, if it has given itself one, its name, as in
// "node 2 (db-2)". names may be nil.
func NodeText(names Names, id timed.NodeID) string {
	text := "node " + id.String()
	if names == nil {
		return text
	}
	if name := names.NameOf(id); name != "node-"+id.String() {
		text += " (" + name + ")"
	}
	return text
}

func (h Header) node(id timed.NodeID) string { return NodeText(h.Names, id) }

// by names a cause, if there is one.
func (h Header) by(id timed.NodeID) string {
	if id == timed.NoNode {
		return ""
	}
	return " (by " + h.node(id) + ")"
}

// globally returns the word that tells the global lead from the local one.
func globally(global bool) string {
	if global {
		return " globally"
	}
	return ""
}
