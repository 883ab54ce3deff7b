package sim

import (
	"fmt"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// ID returns the node's id.
func (n *Node) ID() timed.NodeID { return n.proc.ID }

// World returns the node's world.
func (n *Node) World() *World { return n.w }

// Up reports whether the process runs: it may be stopped, but has not crashed.
func (n *Node) Up() bool { return n.proc.Up }

// Process returns the number of the node's process, from 1. A process may have several
// incarnations, and between two of them it may wait ([Node.Up] is false).
func (n *Node) Process() uint64 { return n.processes }

// Incarnation returns the id with the boot id of the present incarnation.
func (n *Node) Incarnation() timed.Incarnation { return n.proc.Incarnation() }

// Order returns the quorum system by which this incarnation orders messages, or nil, and the
// epoch that it rules, with [Broadcast.ByEpochs].
func (n *Node) Order() (epoch uint64, q quorum.System) {
	if !n.hasStack() {
		return 0, nil
	}
	o := n.proc.Stack.Order()
	return o.Epoch, o.System
}

// Gone reports whether the node has no process, not even one between two incarnations.
func (n *Node) Gone() bool { return !n.proc.Up && !n.held }

// LoseState has the machine of a node that is Gone lose its state directory, so that the next process
// numbers views from 1 again. In a world with Epochs the directory stays.
func (n *Node) LoseState() {
	n.w.checkMutable("LoseState")
	if n.Gone() && n.w.admin == nil {
		n.sequence = 0
	}
}

// Rate returns the error of the hardware clock's rate, in parts per billion, positive for
// a fast clock. It is for tests: no process knows it.
func (n *Node) Rate() int64 { return n.proc.Clock.Rate() }

// Instant reads the hardware clock.
func (n *Node) Instant() timed.Instant { return n.tick(n.w.now) }

// Leads reports whether the node leads, by its own hardware clock alone.
func (n *Node) Leads() bool { return n.hasStack() && !n.proc.Upset && n.proc.Stack.Leads(n.Instant()) }

// LeadsUntil returns the instant of the hardware clock before which the node
// leads, unless it renews its lease; 0 if it does not lead.
func (n *Node) LeadsUntil() timed.Instant {
	if !n.Leads() {
		return 0
	}
	until, _ := n.proc.Stack.Election().Leading()
	return until
}

// Support returns the nodes that are bound to the node while it leads, itself included;
// it is empty if the node does not lead. The support sets of two simultaneous leaders are
// disjoint, so that a leader with the support of a majority of all nodes is the only one.
func (n *Node) Support() timed.Set {
	if !n.Leads() {
		return timed.Set{}
	}
	return n.proc.Stack.Election().Support()
}

// Follows returns the leader that the node's vote is bound to, or 0.
func (n *Node) Follows() timed.NodeID {
	if !n.hasStack() {
		return timed.NoNode
	}
	to, _ := n.proc.Stack.Election().Locked(n.Instant())
	return to.Node
}

// FollowsUntil returns the instant of the hardware clock before which the vote is
// bound to the leader that [Node.Follows] names; 0 if it is free.
func (n *Node) FollowsUntil() timed.Instant {
	if n.Follows() == timed.NoNode {
		return 0
	}
	_, until := n.proc.Stack.Election().Locked(n.Instant())
	return until
}

// View returns the view installed last, or nil, and whether it is up to date, by
// the hardware clock alone.
func (n *Node) View() (v *membership.View, upToDate bool) {
	if !n.hasStack() {
		return nil, false
	}
	m := n.proc.Stack.Membership()
	return m.View(), !n.proc.Upset && m.UpToDate(n.Instant())
}

// Alive returns the peers that were alive for the node at its last turn.
func (n *Node) Alive() timed.Set {
	if !n.hasStack() {
		return timed.Set{}
	}
	return n.proc.Stack.Snapshot(n.Instant()).Alive
}

// Clock reads group time. The reading of a process that is down is not
// synchronized.
func (n *Node) Clock() clocksync.Reading {
	if !n.hasStack() {
		return clocksync.Reading{Deviation: clocksync.UnknownBound, UTCBound: clocksync.UnknownBound}
	}
	s := n.proc.Stack.Snapshot(n.Instant())
	return s.Reading(n.Instant(), !n.proc.Upset)
}

// Random returns a random number in [0, below), from the seed's stream for
// applications. It panics if below < 1.
func (n *Node) Random(below int64) int64 {
	n.w.checkMutable("Random")
	if below < 1 {
		panic(fmt.Sprintf("sim: Random(%d): must be at least 1", below))
	}
	return n.w.apps.Below(below)
}

// Send sends a message to the process of another node, over the links and with the faults
// of the platform's own packets. It copies the payload. The message leaves at the end of
// the turn, or when a stopped process runs again. It is lost if the process is down, or if
// to is the node itself or no node of the world. Send panics if the payload is longer than
// [MaxPayload].
func (n *Node) Send(to timed.NodeID, payload []byte) { n.send(to, to, payload) }

// SendAll sends a message to the processes of all other nodes, as [Node.Send]
// does.
func (n *Node) SendAll(payload []byte) { n.send(1, timed.NodeID(n.w.opt.Nodes), payload) }

func (n *Node) send(from, to timed.NodeID, payload []byte) {
	n.w.checkMutable("Send")
	if len(payload) > MaxPayload {
		panic(fmt.Sprintf("sim: a payload of %d bytes: at most %d", len(payload), MaxPayload))
	}
	if !n.proc.Up {
		return
	}
	payload = append([]byte{}, payload...) // not nil: nil is no message
	for id := int(from); id <= int(to); id++ {
		if id >= 1 && id <= n.w.opt.Nodes && id != int(n.proc.ID) {
			n.w.submit(request{n: n, life: n.lives, kind: requestSend, to: timed.NodeID(id), payload: payload})
		}
	}
}

// Resign makes the node give up its lead at the end of the turn. It reports whether the
// node led.
func (n *Node) Resign() bool {
	n.w.checkMutable("Resign")
	led := n.Leads() && n.stalledUntil <= n.w.now
	if led {
		n.w.submit(request{n: n, life: n.lives, kind: requestResign})
	}
	return led
}
