package exhaust

import (
	"slices"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/timed"
)

// outcome is a possible outcome of one tick for a node.
type outcome struct {
	node   nodeState
	sent   []*message
	line   *clocksync.Line // of the timeline that it has started
	claims []claims        // before, between and after the turns
	kind   outcomeKind
	events []*message // in order; nil is the timer
	twin   bool       // another order ends alike: only the states between the turns differ
}

type outcomeKind uint8

const (
	acts outcomeKind = iota
	crashes
	stalls
	resigns
)

// outcomes returns the possible outcomes for a node at the tick of a state with the
// messages that have arrived, in all orders of handling them.
func (w *world) outcomes(s *state, id timed.NodeID, arrivals []flight) ([]outcome, *failure) {
	var out, leads []outcome // of turns, and of those after which the leader resigns
	n := s.node(id)
	m := w.machines[id]
	for _, events := range orders(arrivals, n.due <= s.tick) {
		m.load(n.img, w.at(n.turn))
		t := w.begin(m, s, s.tick)
		var done []*message
		for _, f := range events {
			if f == nil && m.st.Deadline() > w.show(id, s.tick) {
				continue // the timer was handled with a message
			}
			t.perform(f)
			done = append(done, f)
		}
		o := w.ended(t, n.boots)
		o.events = done
		if t.failed != nil {
			return []outcome{o}, t.failed
		}
		o.twin = slices.ContainsFunc(out, o.endsAs)
		out = append(out, o)
		if int(s.resigns) < w.opt.Resigns && m.st.Election().Leads(w.show(id, s.tick)) {
			t.resign()
			r := w.ended(t, n.boots)
			r.events, r.kind = done, resigns
			if t.failed != nil {
				return []outcome{r}, t.failed
			}
			leads = append(leads, r)
		}
	}
	out = append(out, leads...)
	if int(s.crashes) < w.opt.Crashes {
		out = append(out, w.crash(s, id, out[0].claims[0]))
	}
	if int(s.stalls) < w.opt.Stalls {
		asleep := *n
		asleep.asleep = s.tick + w.stall
		out = append(out, outcome{node: asleep, kind: stalls, claims: out[0].claims[:1]})
	}
	return out, nil
}

// ended returns the outcome of turns.
func (w *world) ended(t *turns, boots uint8) outcome {
	last := t.claims[len(t.claims)-1]
	last.alive = timed.Set{}
	return outcome{
		node: nodeState{
			img: t.m.take(w.at(t.tick)), turn: t.tick, boots: boots, claims: &last,
			// A turn may leave something for the next one, which follows at once.
			due: max(w.due(t.m.self, t.m.st.Deadline()), t.tick+1),
			on:  t.m.st.Clock().Read(w.show(t.m.self, t.tick)).Timeline,
		},
		sent: t.sent, line: t.line, claims: t.claims,
	}
}

// endsAs reports whether two orders lead to the same.
func (o *outcome) endsAs(p outcome) bool {
	same := func(a, b *message) bool { return a.hash == b.hash }
	return o.node.img.hash == p.node.img.hash && o.node.due == p.node.due && o.node.img.shown == p.node.img.shown &&
		slices.EqualFunc(o.sent, p.sent, same) && (o.line == nil) == (p.line == nil)
}

// crash returns the outcome that a node crashes before it does anything, and
// starts again. Its hardware clock goes on.
func (w *world) crash(s *state, id timed.NodeID, before claims) outcome {
	n, m := s.node(id), w.machines[id]
	m.load(n.img, w.at(n.turn))
	wall := m.st.Clock().Read(w.show(id, s.tick)).Time + awry
	boots := n.boots + 1
	after := claims{self: incarnation(id, boots)}
	return outcome{kind: crashes, claims: []claims{before, after}, node: nodeState{
		img: w.born(id, boots, s.tick, wall), turn: s.tick, due: s.tick + 1, boots: boots, claims: &after,
	}}
}

// orders returns the orders in which a node can handle its messages and its due timer:
// messages in the order of their arrival, simultaneous ones in any, and the timer at any
// place.
func orders(arrivals []flight, timer bool) (out [][]*message) {
	total := len(arrivals)
	if timer {
		total++
	}
	taken := make([]bool, len(arrivals))
	var order []*message
	var extend func()
	extend = func() {
		if len(order) == total {
			out = append(out, slices.Clone(order))
			return
		}
		if timer {
			timer = false
			order = append(order, nil)
			extend()
			order, timer = order[:len(order)-1], true
		}
		first := int64(-1)
		for i, f := range arrivals {
			if taken[i] || first >= 0 && f.arrives > first {
				continue
			}
			first = f.arrives
			taken[i] = true
			order = append(order, f.message)
			extend()
			order, taken[i] = order[:len(order)-1], false
		}
	}
	extend()
	return out
}
