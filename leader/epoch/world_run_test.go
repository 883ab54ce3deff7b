package epoch

import (
	"fmt"
	"time"

	"github.com/failaware/failaware/timed"
)

// check fails if two nodes lead.
func (w *world) check() {
	rest := w.leases[:0]
	for _, l := range w.leases {
		if w.now < l.until && !w.nodes[l.node-1].dead {
			rest = append(rest, l)
		}
	}
	w.leases = rest
	for _, l := range rest {
		if l.epoch != rest[0].epoch {
			w.fail("node %v leads epoch %d while node %v leads epoch %d", l.node, l.epoch, rest[0].node, rest[0].epoch)
		} else if l.node != rest[0].node {
			w.fail("nodes %v and %v lead epoch %d", l.node, rest[0].node, l.epoch)
		}
	}
}

// leader returns the leader, or nil.
func (w *world) leader() *node {
	for _, n := range w.nodes {
		if n.up && n.stamps != nil && w.now < n.leadsUntil && n.epoch == n.m.State().Epoch {
			return n
		}
	}
	return nil
}

// run advances time by d, with random faults if rough.
func (w *world) run(d time.Duration, rough bool) {
	for end := w.now + int64(d); w.now < end && w.wrong == ""; {
		w.step()
		if !rough {
			continue
		}
		n := w.nodes[w.random.IntN(len(w.nodes))]
		switch x := w.random.IntN(4000); {
		case x < 12 && n.up:
			w.crashNode(n)
		case x < 60 && !n.up && !n.dead:
			w.start(n)
		case x < 72:
			w.cut = [16]int{}
			if w.random.IntN(2) == 0 {
				for i := range w.cut {
					w.cut[i] = w.random.IntN(2)
				}
			}
		case x < 120:
			if l := w.leader(); l != nil {
				_ = l.m.Propose(w.draw())
			}
		case x < 130:
			if l := w.leader(); l != nil {
				w.create(l)
			}
		}
	}
}

// draw returns a random quorum system of up to five nodes.
func (w *world) draw() string {
	var s majority
	for range 1 + w.random.IntN(5) {
		if n := w.nodes[w.random.IntN(len(w.nodes))]; !n.dead {
			s.members.Add(n.id)
		}
	}
	if s.members.Empty() {
		s.members.Add(1)
	}
	return s.String()
}

// endFaults ends all faults.
func (w *world) endFaults() {
	w.loss, w.delay, w.crash, w.unheard, w.rivals, w.cut = 0, 0, 0, 0, false, [16]int{}
	for _, n := range w.nodes {
		if !n.up && !n.dead {
			w.start(n)
		}
	}
}

// defect describes a defect of a world without faults, or returns "".
func (w *world) defect() string {
	l := w.leader()
	if l == nil {
		return "no node leads"
	}
	for _, n := range w.nodes {
		switch {
		case !n.up:
		case n.m.State().Epoch != l.epoch:
			return fmt.Sprintf("node %v is in epoch %d and not in %d", n.id, n.m.State().Epoch, l.epoch)
		case n.m.wanted != "":
			return "a change has been asked for"
		case n.m.Busy():
			return fmt.Sprintf("node %v has %v a change", n.id, n.m.State().Phase)
		}
	}
	return ""
}

// until advances time by at most d until what returns "".
func (w *world) until(d time.Duration, what func() string) {
	last := ""
	for end := w.now + int64(d); w.now < end && w.wrong == ""; {
		if last = what(); last == "" {
			return
		}
		w.run(50*time.Millisecond, false)
	}
	w.fail("after %v without faults: %s", d, last)
}

// force forces a successor at a node.
func (w *world) force(id timed.NodeID, next string, dead timed.Set) {
	n := w.nodes[id-1]
	if !n.up {
		return
	}
	epoch := n.m.State().Epoch
	out, err := n.m.Force(n.clock(w.now), next, dead, nil)
	if err != nil {
		return
	}
	if w.forced[epoch] == nil {
		w.forced[epoch] = map[string]bool{}
	}
	w.forced[epoch][next] = true
	w.perform(n, out)
}
