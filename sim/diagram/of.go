package diagram

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/sim"
	"github.com/failaware/failaware/timed"
)

// Of returns the picture of a recording of the simulator, without a title. The
// subtitle names the faults that were under way when the recording began, for
// they have no mark in it. The violation, if not nil, is marked in red.
func Of(rec *sim.Recording, broken *sim.Violation) *Run {
	r := &Run{From: rec.From, To: rec.To}
	for id := 1; id <= rec.Nodes; id++ {
		r.Nodes = append(r.Nodes, "node "+strconv.Itoa(id))
	}
	for i := range rec.Messages {
		if m := &rec.Messages[i]; m.From != m.To { // a second process with an id is no lane of its own
			r.Messages = append(r.Messages, messageOf(m))
		}
	}
	numbers := numberViews(rec)
	for i := range rec.Bars {
		r.Bars = append(r.Bars, barOf(&rec.Bars[i], numbers))
	}
	before := r.marksOf(rec)
	if broken != nil {
		r.Marks = append(r.Marks, Mark{Node: laneOf(broken.Node), At: broken.At, Kind: Violation, Label: broken.Check + ": " + broken.Detail})
		r.To = max(r.To, broken.At)
	}
	if len(before) > 0 {
		r.Subtitle = "under way at " + rec.From.String() + ": " + strings.Join(before, "; ")
	}
	return r
}

// laneOf returns the lane of a node, or All for the whole world.
func laneOf(id timed.NodeID) int {
	if id == timed.NoNode {
		return All
	}
	return int(id) - 1
}

func messageOf(m *sim.RecordedMessage) Message {
	out := Message{From: laneOf(m.From), To: laneOf(m.To), Sent: m.Sent, Arrived: m.Arrived, Fate: Slow, Keepalive: m.Bare}
	switch {
	case m.Arrived == sim.Never:
		out.Fate, out.Arrived = Lost, 0
	case m.Fast:
		out.Fate = Fast
	}
	if !m.Bare {
		out.Label = m.Says
	}
	return out
}

// numberViews numbers the views of a recording in the order of their ids, so
// that neighbours in time have colours that differ.
func numberViews(rec *sim.Recording) map[membership.ViewID]int {
	numbers := map[membership.ViewID]int{}
	var ids []membership.ViewID
	for i := range rec.Bars {
		if id := rec.Bars[i].View; !id.None() {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b membership.ViewID) int {
		return cmp.Or(cmp.Compare(a.Sequence, b.Sequence), cmp.Compare(a.Leader, b.Leader), cmp.Compare(a.Boot, b.Boot))
	})
	for _, id := range slices.Compact(ids) {
		numbers[id] = len(numbers)
	}
	return numbers
}

var barKinds = map[sim.BarKind]BarKind{sim.BarLeads: Lead, sim.BarVote: Lock, sim.BarView: View, sim.BarStale: Stale,
	sim.BarDown: Down, sim.BarStalled: Stalled}

func barOf(b *sim.RecordedBar, views map[membership.ViewID]int) Bar {
	out := Bar{Node: laneOf(b.Node), From: b.From, To: max(b.From, b.To), Kind: barKinds[b.Kind], Group: int(b.Leader), Label: b.Label}
	if out.Kind == View || out.Kind == Stale {
		out.Group = views[b.View]
	}
	return out
}

// marksOf adds the marks of a recording. It returns the faults that began before
// it, the earliest first.
func (r *Run) marksOf(rec *sim.Recording) (before []string) {
	for i := range rec.Marks {
		m := &rec.Marks[i]
		if m.At < rec.From {
			before = append(before, m.Label+" since "+m.At.Round(time.Millisecond).String())
			continue
		}
		out := Mark{Node: laneOf(m.Node), At: m.At, Kind: Event, Label: m.Label}
		if m.Fault {
			out.Kind = Fault
		}
		r.Marks = append(r.Marks, out)
	}
	return before
}
