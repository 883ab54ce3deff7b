package sim

import (
	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

// RandomQuorum as [Options.Quorum] gives each seed a quorum system of its own.
const RandomQuorum = "random"

// globalState is the part of a world's state that serves global leaders.
type globalState struct {
	system     quorum.System
	rand       random.Stream
	counts     bool    // nodes count their starts, as with a state directory
	verifyRate float64 // the share of a node's timeouts that ask whether a node leads
}

// Shares of the actions of nodes.
const (
	uncountedWorlds = 0.25 // of worlds have no state directories
	verifyShare     = 0.05 // of a node's timeouts ask a peer, or the node itself, whether it leads
	namedResigns    = 0.7  // of resignations name a successor
)

// newGlobalState returns nil without a quorum system. The text has been checked.
func newGlobalState(seed uint64, opt *Options) *globalState {
	if opt.Quorum == "" {
		return nil
	}
	g := &globalState{rand: random.New(seed, random.Quorum), verifyRate: verifyShare}
	if opt.Quorum == RandomQuorum {
		g.system = drawQuorum(g.rand, opt.Nodes)
	} else {
		g.system, _ = quorum.Parse(opt.Quorum)
	}
	g.counts = !g.rand.Chance(uncountedWorlds) || opt.Epochs
	return g
}

// drawQuorum draws a quorum system over some of the nodes, or all.
func drawQuorum(r random.Stream, nodes int) (s quorum.System) {
	var members timed.Set
	everybody := r.Chance(0.5)
	for id := range nodes {
		if everybody || r.Chance(0.7) {
			members.Add(timed.NodeID(id + 1))
		}
	}
	if members.Empty() {
		members.Add(timed.NodeID(1 + r.Below(int64(nodes))))
	}
	var err error
	switch r.Below(4) {
	case 0:
		s, err = quorum.Majority(members)
	case 1:
		var votes []quorum.Votes
		for id := range members.All() {
			votes = append(votes, quorum.Votes{Node: id, Weight: uint16(r.Between(1, 4))})
		}
		s, err = quorum.Weighted(votes...)
	case 2:
		s, err = quorum.Grid(deal(r, members)...)
	default:
		s, err = quorum.Explicit(drawMeeting(r, members)...)
	}
	if err != nil {
		panic(err) // draws are valid
	}
	return s
}

// deal deals members out to rows, none of them empty.
func deal(r random.Stream, members timed.Set) (rows []timed.Set) {
	rows = make([]timed.Set, r.Between(1, min(3, int64(members.Len()))))
	k := 0
	for id := range members.All() {
		if k < len(rows) {
			rows[k].Add(id)
		} else {
			rows[r.Below(int64(len(rows)))].Add(id)
		}
		k++
	}
	return rows
}

// drawMeeting draws sets that all intersect each other.
func drawMeeting(r random.Stream, members timed.Set) (out []timed.Set) {
draws:
	for range 12 {
		var s timed.Set
		for id := range members.All() {
			if r.Chance(0.6) {
				s.Add(id)
			}
		}
		if s.Empty() {
			continue
		}
		for _, t := range out {
			if !s.Intersects(t) {
				continue draws
			}
		}
		out = append(out, s)
	}
	if len(out) == 0 {
		out = append(out, members)
	}
	return out
}

// configure configures the quorum system of a starting node.
func (g *globalState) configure(n *Node, cfg *stack.Config) {
	n.starts++
	cfg.Quorum = g.system
	if g.counts {
		cfg.Starts = n.starts
	}
}

// maybeVerify sometimes lets a node that just ran ask a node whether it leads.
func (w *World) maybeVerify(n *Node) {
	g := w.global
	if !n.proc.Up || n.proc.Upset || w.opt.Nodes < 2 || !g.rand.Chance(g.verifyRate) {
		return
	}
	to := timed.NodeID(1 + g.rand.Below(int64(w.opt.Nodes)))
	now := n.tick(w.now)
	if to == n.proc.ID { // its callers may be other processes
		a := n.proc.Stack.Vouch(now)
		w.check.NoteHold(&n.proc, a.Local, a.Global)
		return
	}
	w.finishTurn(n, now, n.proc.Stack.Verify(now, to, w.out[:0]))
}

// giveUpLead makes a leader resign, in most cases in favour of a named successor.
func (w *World) giveUpLead(n *Node, now timed.Instant) []stack.Effect {
	if g := w.global; g != nil && g.rand.Chance(namedResigns) {
		return n.proc.Stack.HandOver(now, timed.NodeID(1+g.rand.Below(int64(w.opt.Nodes))), w.out[:0])
	}
	return n.proc.Stack.Resign(now, w.out[:0])
}
