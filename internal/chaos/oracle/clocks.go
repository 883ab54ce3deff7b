package oracle

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// Limits of the comparison of clocks.
const (
	maxApart  = 50_000_000 // ns: readings farther apart are not compared
	rateError = 2e-3       // of group time against the common clock: drift, and steering of both
)

// reading is a reading of group time.
type reading struct {
	node int
	r    *Record
}

// clocks compares readings of one timeline. Each of two readings is within its deviation
// of group time at some instant between its readings of the common clock, and group time
// runs nearly as fast as the common clock.
func (h *History) clocks(group string) (out []Violation) {
	lines := map[string][]reading{}
	for _, l := range h.Logs {
		var before *Record
		for r := range l.records(group, Clock) {
			lines[r.Timeline] = append(lines[r.Timeline], reading{l.Node, r})
			if before != nil && before.Timeline == r.Timeline && r.Time < before.Time {
				out = append(out, Violation{"a clock does not run backwards on a timeline",
					fmt.Sprintf("group %s: node %d read %d, and later %d, on timeline %s", group, l.Node, before.Time, r.Time, r.Timeline)})
			}
			before = r
		}
	}
	for _, line := range slices.Sorted(maps.Keys(lines)) {
		all := lines[line]
		slices.SortFunc(all, func(a, b reading) int { return cmp.Compare(a.r.From, b.r.From) })
		latest := map[int]*Record{}
		for _, x := range all {
			for _, node := range slices.Sorted(maps.Keys(latest)) {
				y := latest[node]
				if node != x.node && x.r.From-y.From < maxApart && !agree(y, x.r) {
					out = append(out, Violation{"readings of one timeline agree within their deviations",
						fmt.Sprintf("group %s, timeline %s: node %d read %d±%d in [%d, %d], and node %d read %d±%d in [%d, %d]", group, line,
							node, y.Time, y.Deviation, y.From, y.To, x.node, x.r.Time, x.r.Deviation, x.r.From, x.r.To)})
				}
			}
			latest[x.node] = x.r
		}
	}
	return out
}

// agree reports whether group time can have been within the deviations of both readings.
func agree(x, y *Record) bool {
	passed := float64(y.Time - x.Time)
	slack := float64(x.Deviation) + float64(y.Deviation)
	least, most := float64(y.From-x.To), float64(y.To-x.From)
	least -= rateError * max(least, -least)
	most += rateError * max(most, -most)
	return passed+slack >= least && passed-slack <= most
}
