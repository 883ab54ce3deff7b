package oracle

import (
	"fmt"
	"time"
)

// Limits are the limits of a run besides the promises of the nodes.
type Limits struct {
	// Lateness is how late the machine may be during a healing; a slow healing on a later
	// machine is no violation.
	Lateness time.Duration
	// Slack is added to the bound of a healing, for the time that the harness takes to end
	// the faults and to see the end of the healing.
	Slack time.Duration
	// Most is the largest growth of a process between two calm moments, and Settled the
	// largest growth of an old process by its slope.
	Most, Settled Use
}

// Verdict is the judgement of a run.
type Verdict struct {
	Violations []Violation
	// Counts has the numbers of the items that were compared, by name.
	Counts map[string]int
	// Heals has all healings. Excused counts those during which the machine was too late.
	Heals   []Healing
	Excused int
	Growth  []Growth
}

// Judge returns every contradiction in a history.
func Judge(h *History, limits Limits) *Verdict {
	v := &Verdict{Counts: map[string]int{}}
	for _, g := range h.groups() {
		v.add(h.globalLeaders(g))
		v.add(h.supports(g))
		v.add(h.views(g))
		v.add(h.clocks(g))
		v.add(h.messages(g))
		v.add(h.epochs(g))
		v.add(h.rollbacks(g))
		v.add(h.edicts(g))
		v.add(h.fence(g))
	}
	wrong, n := h.registers()
	v.add(wrong)
	wrong, acknowledged := h.states()
	v.add(wrong)
	v.Counts["operations explained"], v.Counts["registers undecided"], v.Counts["writes acknowledged"] = n.explained, n.undecided, acknowledged
	v.Counts["reads by lease"], v.Counts["reads by message"] = n.leased, n.latest
	v.add(h.events())
	v.judgeHeals(h, &limits)
	v.judgeGrowth(h, &limits)
	for _, l := range h.Logs {
		for i := range l.Records {
			v.Counts[l.Records[i].Kind]++
		}
	}
	return v
}

func (v *Verdict) add(more []Violation) { v.Violations = append(v.Violations, more...) }

// events returns what nodes reported themselves.
func (h *History) events() (out []Violation) {
	for _, l := range h.Logs {
		for i := range l.Records {
			if r := &l.Records[i]; r.Kind == Event {
				out = append(out, Violation{"nodes report no fault of their own", fmt.Sprintf("node %d, process %d: %s", l.Node, l.Process, r.Text)})
			}
		}
	}
	return out
}
