package lab

import (
	"fmt"
	"time"

	"github.com/failaware/failaware/sim"
	"github.com/failaware/failaware/timed"
)

// Record runs an algorithm in a scenario with a seed, and returns the events in the true time
// [from, to), for a picture: leaders, their followers, and all messages. Messages of failure
// detectors are drawn as keepalives.
func Record(a Algorithm, s Scenario, seed uint64, from, to time.Duration) (*sim.Recording, error) {
	if from < 0 || to <= from || to > s.Duration {
		return nil, fmt.Errorf("lab: there is no time from %v to %v in scenario %s of %v", from, to, s.Name, s.Duration)
	}
	r, w, err := prepare(&a, &s, seed, nil)
	if err != nil {
		return nil, err
	}
	if err := r.runUntil(w, &s, from); err != nil {
		return nil, err
	}
	rec := w.Record()
	if !a.Own() {
		r.observer.lanes = &lanes{rec: rec}
		r.observer.draw()
	}
	if err := r.runUntil(w, &s, to); err != nil {
		return nil, err
	}
	rec.To = to
	for i := range rec.Bars {
		rec.Bars[i].To = min(rec.Bars[i].To, to)
	}
	return rec, nil
}

// lanes has the bars of a picture for the claims of the machines.
type lanes struct {
	rec  *sim.Recording
	open [MaxProcesses + 1]int // index of the open bar of a process, plus 1; 0: none
}

// draw updates the bars to the present claims.
func (o *observer) draw() {
	for _, n := range o.nodes {
		id := n.ID()
		bar, on := o.barOf(id)
		rec, i := o.lanes.rec, o.lanes.open[id]-1
		if i >= 0 {
			old := &rec.Bars[i]
			if on && old.Kind == bar.Kind && old.Leader == bar.Leader && old.Label == bar.Label {
				continue
			}
			old.To = o.now
		}
		o.lanes.open[id] = 0
		if on && len(rec.Bars) < sim.MaxRecorded {
			rec.Bars = append(rec.Bars, bar)
			o.lanes.open[id] = len(rec.Bars)
		}
	}
}

func (o *observer) barOf(id timed.NodeID) (bar sim.RecordedBar, on bool) {
	bar = sim.RecordedBar{Kind: sim.BarVote, Node: id, From: o.now, To: sim.Never, Leader: o.elected[id]}
	if o.leaders.has(id) {
		bar.Kind, bar.Leader, bar.Members = sim.BarLeads, id, o.followers(id).set()
		bar.Label = bar.Members.String()
	}
	return bar, o.up.has(id) && bar.Leader != 0
}
