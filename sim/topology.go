package sim

import (
	"fmt"
	"time"

	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/sim/internal/clique"
	"github.com/failaware/failaware/timed"
)

// Topology is the outcome of a still world of random connectivity.
type Topology struct {
	Edges   [][2]timed.NodeID // the connected pairs
	Leaders timed.Set         // the leaders at the end
	Cover   int               // the size of a minimum clique cover
	Settled time.Duration     // the time from when all nodes were ready to the last change of a leader
}

// RunTopology draws a random symmetric connectivity graph from the seed, keeps
// it still, and checks the promises of the mode. In half of the worlds another graph
// came before. In mode Available (Stoller's Assertion 4'): after nodes × the election
// bound every process is led, there are no more groups than a minimum clique cover
// needs, no leader changes, and all nodes of a group hold it as their up-to-date view (with a
// broadcast later: nodes that cannot get the messages that they must have come alone).
// In mode Strict: after the election bound a leader is always supported by every process
// that is connected to it (BI), and every clique without links to other nodes is
// led (T). With a quorum system somebody leads globally if any node hears a quorum. It
// is a [Campaign.Play].
func RunTopology(seed uint64, opt Options) (Result, error) {
	if err := opt.Validate(); err != nil {
		return Result{}, err
	}
	opt = opt.withDefaults()
	if opt.Nodes > MaxTopology {
		return Result{}, fmt.Errorf("sim: a clique cover is computed for at most %d nodes", MaxTopology)
	}
	opt.Calm = true
	w := newWorld(seed, opt)
	s := random.New(w.seed, random.Topology)
	g := w.drawGraph(s, 0.2, 0.9)
	start := w.now + int64(w.bounds.Rejoin)
	if s.Chance(0.5) {
		w.connect(w.drawGraph(s, 0.4, 1.4)) // often whole
		start += int64(w.bounds.View)
		w.runUntil(start)
	}
	w.connect(g)
	t := &Topology{Cover: clique.Cover(g)}
	for i := range g {
		for j := i + 1; j < len(g); j++ {
			if g[i]>>j&1 == 1 {
				t.Edges = append(t.Edges, [2]timed.NodeID{timed.NodeID(i + 1), timed.NodeID(j + 1)})
			}
		}
	}
	w.holdStill(g, start, t)
	r := w.result()
	r.Topology = t
	return r, nil
}

// graph is a symmetric connectivity graph: bit j of row i.
type graph []uint32

// MaxTopology is the largest world for which a minimum clique cover is computed.
const MaxTopology = clique.MaxNodes

// drawGraph draws a graph. The share of pairs that it connects is between two limits.
func (w *World) drawGraph(s random.Stream, least, most float64) graph {
	g := make(graph, len(w.nodes))
	density := least + (most-least)*s.Unit()
	for i := range g {
		for j := range i {
			if s.Chance(density) {
				g[i] |= 1 << j
				g[j] |= 1 << i
			}
		}
	}
	return g
}

// connect makes a graph that of the links.
func (w *World) connect(g graph) {
	for i := range g {
		for j := range g {
			if i != j {
				w.links[i][j].cut = g[i]>>j&1 == 0
			}
		}
	}
}

// holdStill runs the world, and checks it after every event. From start on all nodes are
// ready, and the graph is still.
func (w *World) holdStill(g graph, start int64, res *Topology) {
	stabilize := w.bounds.Elect
	if w.opt.Mode == leader.Available {
		stabilize *= time.Duration(len(g))
	}
	calm := start + int64(stabilize)
	still := calm + int64(w.bounds.View-w.bounds.Elect)
	if w.cast != nil { // one after the other is put off, because it hears nobody who has what it lacks
		still += int64(len(g)) * int64(11*w.opt.Timing.Expires)
	}
	end := still + int64(20*w.opt.Timing.Expires)
	last := uint64(0)
	for w.now < end && len(w.queue.heap) > 0 {
		if !w.step() {
			return
		}
		if changes := w.check.LeadChanges; changes != last {
			last = changes
			res.Settled = time.Duration(w.now - start)
			if w.now >= calm && w.opt.Mode == leader.Available {
				w.check.Fail("4'", &w.nodes[0].proc, "a leader changes %v after connectivity became still", time.Duration(w.now-start))
				return
			}
		}
		if w.now >= calm && w.opt.Mode == leader.Strict && w.global == nil && !w.checkBI(g) {
			return
		}
		if w.now >= still && w.opt.Mode == leader.Available && !w.checkGroupViews() {
			return
		}
	}
	for i := range w.nodes {
		if w.check.Leads(i) {
			res.Leaders.Add(timed.NodeID(i + 1))
		}
	}
	if w.opt.Mode == leader.Available {
		w.checkGroups(res)
	} else {
		w.checkCliques(g)
	}
	if w.global != nil {
		w.checkGlobal(g)
	}
}

// checkBI demands that every leader has the support of all nodes connected to it.
func (w *World) checkBI(g graph) bool {
	for i, p := range w.nodes {
		if !w.check.Leads(i) {
			continue
		}
		for j, q := range w.nodes {
			if g[i]>>j&1 == 1 && !w.check.Claims[i].Support.Has(q.proc.ID) {
				w.check.Fail("BI", &p.proc, "leads without node %d, which is connected to it", q.proc.ID)
				return false
			}
		}
	}
	return true
}

// checkGroups demands that every node is led, by no more leaders than a minimum clique
// cover has cliques.
func (w *World) checkGroups(res *Topology) {
	c := &w.check
	for i, n := range w.nodes {
		l := int(c.Claims[i].LockedTo.Node) - 1
		if l < 0 || !c.Leads(l) || !c.Claims[l].Support.Has(n.proc.ID) {
			c.Fail("4'", &n.proc, "is not led at the end: it follows %v; leaders %v", c.Claims[i].LockedTo, res.Leaders)
			return
		}
	}
	if k := res.Leaders.Len(); k > res.Cover {
		c.Fail("4'", &w.nodes[0].proc, "%d groups (led by %v), but %d cliques cover the graph", k, res.Leaders, res.Cover)
	}
}

// checkGroupViews demands that all nodes of a leader's group hold the group as their
// up-to-date view.
func (w *World) checkGroupViews() bool {
	c := &w.check
	for i, n := range w.nodes {
		cl := &c.Claims[i]
		l := int(cl.LockedTo.Node) - 1
		switch {
		case l < 0 || !c.Leads(l) || !c.Claims[l].Support.Has(n.proc.ID):
			continue // checkGroups demands it at the end
		case !c.Fresh(i):
			c.Fail("4'", &n.proc, "has no up-to-date view, but follows node %d, which leads %v", l+1, c.Claims[l].Support)
			return false
		case cl.View.Set != c.Claims[l].Support || cl.View.ID != c.Claims[l].View.ID:
			c.Fail("4'", &n.proc, "holds view %v of %v, but follows node %d, which leads %v with view %v", cl.View.ID, cl.View.Set, l+1, c.Claims[l].Support, c.Claims[l].View.ID)
			return false
		}
	}
	return true
}

// checkCliques demands that every Δ-partition has a leader that all its nodes support (T).
func (w *World) checkCliques(g graph) {
	for i := range g {
		block := g[i] | 1<<i
		whole := true
		var set timed.Set
		for j := range g {
			if block>>j&1 == 1 {
				set.Add(timed.NodeID(j + 1))
				whole = whole && g[j]|1<<j == block
			}
		}
		if !whole {
			continue
		}
		led := false
		for j := range g {
			led = led || block>>j&1 == 1 && w.check.Leads(j) && w.check.Claims[j].Support == set
		}
		if !led {
			w.check.Fail("T", &w.nodes[i].proc, "its Δ-partition %v has no leader that all support", set)
			return
		}
	}
}

// checkGlobal demands a global leader if some node hears a quorum, itself included.
func (w *World) checkGlobal(g graph) {
	hearer, heard := -1, timed.Set{}
	for i := range g {
		if w.check.LeadsGlobally(i) {
			return
		}
		hears := timed.SetOf(timed.NodeID(i + 1))
		for j := range g {
			if g[i]>>j&1 == 1 {
				hears.Add(timed.NodeID(j + 1))
			}
		}
		if w.global.system.IsQuorum(hears) {
			hearer, heard = i, hears
		}
	}
	if hearer >= 0 {
		w.check.Fail("quorate", &w.nodes[hearer].proc, "hears %v, a quorum of %v, and nobody leads globally", heard, w.global.system)
	}
}
