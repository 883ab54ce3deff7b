package exhaust

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/failaware/failaware/timed"
)

// calm is a world in which nothing goes wrong any more: every message is in
// time, and everybody acts at once. It runs on the machines, without images.
type calm struct {
	w      *world
	s      state
	claims []claims // of each node, after its last turn
	cut    func(from, to timed.NodeID) bool
	turns  uint64
	failed *failure
}

// calmFrom continues from a state.
func (w *world) calmFrom(s *state) *calm {
	c := &calm{w: w, s: *s, claims: make([]claims, len(s.nodes))}
	c.s.nodes, c.s.air, c.s.lines = slices.Clone(s.nodes), slices.Clone(s.air), slices.Clone(s.lines)
	for i := range c.s.nodes {
		n := &c.s.nodes[i]
		w.machines[i+1].load(n.img, w.at(n.turn))
		c.claims[i] = *n.claims
	}
	return c
}

// step performs the next tick at which something happens.
func (c *calm) step() {
	tick := c.s.next()
	c.s.tick = tick
	var sent []*message
	for i := range c.s.nodes {
		id, n := timed.NodeID(i+1), &c.s.nodes[i]
		if n.asleep > tick {
			continue
		}
		t := (*turns)(nil)
		rest := c.s.air[:0]
		for _, f := range c.s.air {
			if f.packet.Header.Destination != id || f.arrives > tick {
				rest = append(rest, f)
				continue
			}
			if t == nil {
				t = c.w.begin(c.w.machines[id], &c.s, tick)
			}
			t.perform(f.message)
		}
		c.s.air = rest
		if n.due <= tick && (t == nil || c.w.machines[id].st.Deadline() <= c.w.show(id, tick)) {
			if t == nil {
				t = c.w.begin(c.w.machines[id], &c.s, tick)
			}
			t.perform(nil)
		}
		if t != nil {
			sent = append(sent, c.ended(t)...)
		}
	}
	for _, m := range sent {
		if h := &m.packet.Header; c.cut == nil || !c.cut(h.Source, h.Destination) {
			c.s.air = append(c.s.air, flight{m, tick + c.w.delay[inTime]})
		}
	}
	for i := range c.claims {
		for j := i + 1; j < len(c.claims); j++ {
			c.fail(c.w.together(&c.claims[i], &c.claims[j], tick*c.w.grain))
		}
	}
}

// ended records the turns of a node, and returns its messages.
func (c *calm) ended(t *turns) []*message {
	id := t.m.self
	n := c.s.node(id)
	n.turn, n.due = t.tick, max(c.w.due(id, t.m.st.Deadline()), t.tick+1)
	n.on = t.m.st.Clock().Read(c.w.show(id, t.tick)).Timeline
	if t.line != nil {
		c.s.lines = append(c.s.lines, *t.line)
	}
	c.turns += uint64(len(t.claims) - 1)
	c.claims[id-1] = t.claims[len(t.claims)-1]
	c.claims[id-1].alive = timed.Set{}
	c.fail(t.failed)
	return t.sent
}

func (c *calm) fail(f *failure) { c.failed = cmp.Or(c.failed, f) }

// state returns where the world is, as a state to explore from.
func (c *calm) state() *state {
	s := c.s
	s.nodes, s.air = slices.Clone(c.s.nodes), slices.Clone(c.s.air)
	for i := range s.nodes {
		n, last := &s.nodes[i], c.claims[i]
		n.img, n.claims = c.w.machines[i+1].take(c.w.at(n.turn)), &last
	}
	s.endTick()
	return &s
}

// rest continues a state without further faults until the world is at rest and has
// stayed so for a while. It returns the time from the last fault to rest; more than
// the bounds allow is a failure.
func (w *world) rest(s *state) (took time.Duration, turns uint64, failed *failure) {
	c := w.calmFrom(s)
	still := s.tick // when the last fault is over
	for _, f := range s.air {
		still = max(still, f.arrives)
	}
	again := s.world.root.Start == Cold
	for i := range s.nodes {
		still = max(still, s.nodes[i].asleep)
		again = again || s.nodes[i].boots > 0
	}
	bound := w.bounds.View
	if again {
		bound += w.bounds.Rejoin
	}
	end := still + w.ticks(bound) + 1
	since := int64(-1) // when it came to rest
	hold := w.ticks(w.opt.Timing.MaxLockTime + w.opt.Timing.Period())
	for c.failed == nil {
		c.step()
		tick := c.s.tick
		switch at := atRest(c.claims, tick*w.grain); {
		case !at && tick > end:
			c.fail(fail("liveness", 1, "%v after the last fault not one leads all and all hold one up-to-date view (bound %v)%s",
				w.since(tick-still), bound, c.describe()))
		case !at:
			since = -1
		case since < 0:
			since = tick
		case tick-since >= hold && tick >= still:
			return w.since(max(since-still, 0)), c.turns, nil
		}
	}
	return 0, c.turns, c.failed
}

// describe describes the progress of the nodes.
func (c *calm) describe() string {
	var b strings.Builder
	at := c.s.tick * c.w.grain
	for i := range c.claims {
		cl := &c.claims[i]
		view := "no view"
		if cl.view != nil {
			view = fmt.Sprintf("view %v %v", cl.view.ID, cl.view.Set)
		}
		fmt.Fprintf(&b, "; node %d leads %v %v, locked to %v, %s up to date %v",
			i+1, at < cl.leadUntil, cl.support, cl.lockedTo, view, at < cl.viewUntil)
	}
	return b.String()
}
