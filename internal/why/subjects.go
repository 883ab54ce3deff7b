package why

import (
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// subjects returns what an event is about.
func (r *Record) subjects(e event.Event) (list []Subject) {
	switch e := e.(type) {
	case event.Ready, event.Restarted, event.Inconsistent:
		list = []Subject{Leader, View, Clock}
	case event.Elected, event.LeadLost, event.Following, event.Unfit, event.QuorumChange:
		list = []Subject{Leader}
	case event.OtherQuorum:
		list = []Subject{Leader, Node(e.Peer)}
	case event.ViewInstalled, event.ViewFresh, event.ViewStale, event.SlowConsumer:
		list = []Subject{View}
	case event.ClockAdopted, event.ClockStepped, event.UTCChanged:
		list = []Subject{Clock}
	case event.Falseticker:
		list = []Subject{Clock, Node(e.Node)}
	case event.Truechimer:
		list = []Subject{Clock, Node(e.Node)}
	case event.ClockFault:
		list = []Subject{Clock, Node(e.Peer)}
	default:
		if id := peerOf(e); id != timed.NoNode {
			list = []Subject{Node(id)}
		}
	}
	for id := range r.named(e).All() {
		list = append(list, Node(id))
	}
	return list
}

// peerOf returns the peer that an event is about, or NoNode.
func peerOf(e event.Event) timed.NodeID {
	switch e := e.(type) {
	case event.PeerAlive:
		return e.Peer
	case event.PeerSilent:
		return e.Peer
	case event.PeerRestarted:
		return e.Peer
	case event.PeerLeaving:
		return e.Peer
	case event.PeerCloned:
		return e.Peer
	case event.PeerDuplicated:
		return e.Peer
	case event.PeerForgot:
		return e.Peer
	case event.Mismatch:
		if e.Elsewhere {
			return timed.NoNode // it says nothing about the peer
		}
		return e.Peer
	case event.PacketUnsent:
		return e.Peer
	}
	return timed.NoNode
}

// named returns the nodes that an event about the lead or the view names: the accuser,
// or the members that came or left.
func (r *Record) named(e event.Event) (ids timed.Set) {
	add := func(id timed.NodeID) {
		if id != timed.NoNode {
			ids.Add(id)
		}
	}
	switch e := e.(type) {
	case event.LeadLost:
		add(e.By)
	case event.ViewStale:
		add(e.By)
	case event.ViewInstalled:
		if e.View != nil {
			ids = r.members().Minus(e.View.Set).Union(e.View.Set.Minus(r.members()))
		}
	}
	return ids
}

// blamed returns the nodes whose messages or silence an event may follow from: those
// that it names, or all members if their votes were missing.
func (r *Record) blamed(e event.Event) (ids timed.Set) {
	ids = r.named(e)
	if expired(e) {
		ids = ids.Union(r.members())
	}
	return ids
}

// expired reports whether an event came because votes were missing.
func expired(e event.Event) bool {
	switch e := e.(type) {
	case event.LeadLost:
		return e.Reason == leader.LeaseExpired || e.Reason == leader.NoQuorum
	case event.ViewStale:
		return e.Reason == membership.LeaseExpired || e.Reason == membership.LeadEnded
	case event.Following:
		return e.Leader == timed.NoNode
	}
	return false
}

// members returns the members of the view that was installed last.
func (r *Record) members() timed.Set {
	if r.view == nil {
		return timed.Set{}
	}
	return r.view.Set
}
