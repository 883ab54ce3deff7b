package failaware

import (
	"fmt"
	"strings"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/leader/epoch"
)

// Kinds of events.

func (Ready) Kind() string         { return "ready" }
func (PeerAlive) Kind() string     { return "peer-alive" }
func (PeerSilent) Kind() string    { return "peer-silent" }
func (PeerRestarted) Kind() string { return "peer-restarted" }
func (PeerLeaving) Kind() string   { return "peer-leaving" }
func (PeerCloned) Kind() string    { return "peer-cloned" }
func (Elected) Kind() string       { return "elected" }
func (LeadLost) Kind() string      { return "lead-lost" }
func (GlobalElected) Kind() string { return "global-elected" }
func (GlobalLost) Kind() string    { return "global-lost" }
func (OtherQuorum) Kind() string   { return "other-quorum" }
func (QuorumChange) Kind() string  { return "quorum-change" }
func (Following) Kind() string     { return "following" }
func (Unfit) Kind() string         { return "unfit" }
func (ViewInstalled) Kind() string { return "view-installed" }
func (ViewFresh) Kind() string     { return "view-fresh" }
func (ViewStale) Kind() string     { return "view-stale" }
func (ClockAdopted) Kind() string  { return "clock-adopted" }
func (ClockStepped) Kind() string  { return "clock-stepped" }
func (ClockFault) Kind() string    { return "clock-fault" }
func (UTCChanged) Kind() string    { return "clock-utc" }
func (Falseticker) Kind() string   { return "clock-falseticker" }
func (Truechimer) Kind() string    { return "clock-truechimer" }
func (Mismatch) Kind() string      { return "mismatch" }
func (Restarted) Kind() string     { return "restarted" }
func (SlowConsumer) Kind() string  { return "slow-consumer" }
func (Missed) Kind() string        { return "missed" }

// Texts of events.

func (e Ready) String() string {
	return fmt.Sprintf("ready: the waiting time of boot %v is over", e.Boot)
}

func (e PeerAlive) String() string {
	return fmt.Sprintf("node %v is alive (delay at most %s)", e.Peer, boundText(e.Bound))
}

func (e PeerSilent) String() string {
	if e.Deaf {
		return fmt.Sprintf("node %v does not hear this node any more, which heard it %s ago (last delay bound %s)",
			e.Peer, brief(e.SilentFor), boundText(e.LastBound))
	}
	if e.SilentFor == 0 {
		return fmt.Sprintf("node %v is not alive any more: it does not hear this node in time, or was restarted", e.Peer)
	}
	return fmt.Sprintf("node %v is silent: its last packet in time came %s ago (last delay bound %s)",
		e.Peer, brief(e.SilentFor), boundText(e.LastBound))
}

func (e PeerRestarted) String() string {
	return fmt.Sprintf("node %v was restarted: its boot id is %v", e.Peer, e.Boot)
}

func (e PeerCloned) String() string {
	return fmt.Sprintf("node %v runs twice with boot id %v, as a cloned machine does: it is not heard any more", e.Peer, e.Boot)
}

func (e PeerLeaving) String() string { return fmt.Sprintf("node %v leaves", e.Peer) }

func (e Elected) String() string { return "this node leads" }

func (e LeadLost) String() string {
	switch e.Reason {
	case leader.Outranked:
		return fmt.Sprintf("this node leads no more: node %v outranks it", e.By)
	case leader.LeaseExpired:
		return "this node leads no more: its lease ran out before it was renewed"
	case leader.Resigned:
		return "this node leads no more: it resigned"
	case leader.ClockFault:
		return "this node leads no more: its clock cannot be trusted"
	}
	return fmt.Sprintf("this node leads no more: %v%s", e.Reason, by(e.By))
}

func (e GlobalElected) String() string { return "this node leads globally" }

func (e GlobalLost) String() string {
	switch e.Reason {
	case leader.NoQuorum:
		return "this node leads globally no more: no quorum has renewed its lease"
	case leader.Resigned:
		return "this node leads globally no more: it resigned"
	}
	return fmt.Sprintf("this node leads globally no more: %v%s", e.Reason, by(e.By))
}

func (e OtherQuorum) String() string {
	if e.Digest == 0 {
		return fmt.Sprintf("node %v has no quorum system: it and this node do not vote for each other", e.Peer)
	}
	return fmt.Sprintf("node %v has another quorum system (epoch %d, digest %016x): it and this node do not vote for each other",
		e.Peer, e.Epoch, e.Digest)
}

var quorumSteps = map[epoch.EventKind]QuorumStep{epoch.Proposed: QuorumProposed, epoch.Superseded: QuorumSuperseded,
	epoch.Decided: QuorumDecided, epoch.Entered: QuorumEntered, epoch.DeclaredDead: QuorumDead, epoch.Conflict: QuorumConflict,
	epoch.Unordered: QuorumUnordered}

func (e QuorumChange) String() string {
	switch e.Step {
	case QuorumProposed:
		return fmt.Sprintf("this node proposes %s as the successor of epoch %d", e.System, e.Epoch)
	case QuorumSuperseded:
		return fmt.Sprintf("what was asked for is not proposed: %s was before, as the successor of epoch %d", e.System, e.Epoch)
	case QuorumDecided:
		return fmt.Sprintf("%s is the successor of epoch %d", e.System, e.Epoch)
	case QuorumEntered:
		return fmt.Sprintf("epoch %d has begun, ruled by %s", e.Epoch, e.System)
	case QuorumDead:
		return fmt.Sprintf("this node was declared dead in epoch %d: it votes no more, until %s rules", e.Epoch, e.System)
	case QuorumConflict:
		return fmt.Sprintf("node %v knows %s as another quorum system of epoch %d, or successor of it, than this node: "+
			"a change was forced wrongly, or groups are mixed up", e.Peer, e.System, e.Epoch)
	case QuorumUnordered:
		return fmt.Sprintf("proposals of epoch %d do not compare: members have lost their state directories", e.Epoch)
	}
	return fmt.Sprintf("the configuration names another quorum system than %s of epoch %d, which is in use: it has no effect", e.System, e.Epoch)
}

func (e Following) String() string {
	if e.Leader == NoNode {
		return "this node follows nobody"
	}
	return fmt.Sprintf("this node follows node %v", e.Leader)
}

func (e Unfit) String() string {
	return "this node is no candidate: the votes of its peers are too short for its own timing"
}

func (e ViewInstalled) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "view %v: members %v", e.View.ID, e.View.Set)
	if left := e.View.Set.Minus(e.Transitional); !e.Previous.None() && !left.Empty() {
		fmt.Fprintf(&b, ", of which %v are new to this node", left)
	}
	if len(e.Merged) > 1 {
		b.WriteString("; branches:")
		for _, m := range e.Merged {
			fmt.Fprintf(&b, " %v from %v", m.Members, m.From)
		}
	}
	return b.String()
}

func (e ViewFresh) String() string { return fmt.Sprintf("view %v is up to date", e.View) }

func (e ViewStale) String() string {
	return fmt.Sprintf("view %v is not up to date any more: %v%s", e.View, e.Reason, by(e.By))
}

func (e ClockAdopted) String() string {
	return fmt.Sprintf("the clock follows timeline %v", e.Timeline)
}

func (e ClockStepped) String() string {
	return fmt.Sprintf("the clock stepped by %v to timeline %v", e.Step, e.Timeline)
}

func (e ClockFault) String() string {
	return fmt.Sprintf("clock fault: the clocks of this node and of node %v contradict the drift bound (delay bound %s)",
		e.Peer, boundText(e.Bound))
}

func (e UTCChanged) String() string {
	switch e.State {
	case clocksync.UTCKnown:
		return "UTC is known: most references agree"
	case clocksync.UTCDisputed:
		return "UTC is not known: no majority of the references agrees"
	}
	return "UTC is not known"
}

func (e Falseticker) String() string {
	return fmt.Sprintf("%s is a falseticker: it is off by %v from what most references say", referenceText(e.Name, e.Source, e.Node), e.Off)
}

func (e Truechimer) String() string {
	return fmt.Sprintf("%s agrees with most references again", referenceText(e.Name, e.Source, e.Node))
}

func referenceText(name string, source clocksync.SourceID, node NodeID) string {
	if name == "" {
		name = fmt.Sprintf("%016x", uint64(source))
	}
	return fmt.Sprintf("reference %s of node %v", name, node)
}

func (e Mismatch) String() string {
	return fmt.Sprintf("node %v is not heard: %s", e.Peer, e.Difference.detail())
}

func (e Restarted) String() string {
	return fmt.Sprintf("new incarnation %v: %s", e.Boot, string(e.Reason))
}

func (e SlowConsumer) String() string {
	return fmt.Sprintf("deliveries of view %v are taken too slowly: %d bytes wait, and acknowledgements have stopped",
		e.View, e.Backlog)
}

func (e Missed) String() string { return fmt.Sprintf("%d events were missed", e.Count) }
