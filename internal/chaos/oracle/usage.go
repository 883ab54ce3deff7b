package oracle

import (
	"fmt"
	"time"
)

// Healing is how long a group took to be whole after the end of all faults.
type Healing struct {
	Took, Bound, Late time.Duration
	Text              string // what was missing, if it never was whole
}

// judgeHeals holds each healing against its bound. A group that never became whole is a
// violation on any machine.
func (v *Verdict) judgeHeals(h *History, limits *Limits) {
	for _, l := range h.Logs {
		for i := range l.Records {
			r := &l.Records[i]
			if r.Kind != Heal {
				continue
			}
			one := Healing{Took: time.Duration(r.To - r.From), Bound: time.Duration(r.Bound), Late: time.Duration(r.Late), Text: r.Text}
			v.Heals = append(v.Heals, one)
			switch {
			case one.Text != "":
				v.add([]Violation{{"a healed group becomes whole", fmt.Sprintf("not in %v: %s", one.Took, one.Text)}})
			case one.Took <= one.Bound+limits.Slack:
			case one.Late > limits.Lateness:
				v.Excused++
			default:
				v.add([]Violation{{"a healed group is whole in time", fmt.Sprintf("it took %v, the bound is %v, and the machine was at most %v late", one.Took, one.Bound, one.Late)}})
			}
		}
	}
}

// Use is what a process uses at one moment.
type Use struct {
	Goroutines int
	Files      int   // open ones
	Resident   int64 // bytes of memory
}

// Growth is what a process used at its second calm moment, and For later at its last one. At
// the first one it had not reached its size yet.
type Growth struct {
	Node, Process int
	For           time.Duration
	First, Last   Use
}

func (g Growth) String() string {
	const mib = 1 << 20
	return fmt.Sprintf("node %d, process %d, in %v: goroutines %d to %d, files %d to %d, memory %d to %d MiB", g.Node, g.Process,
		g.For.Round(time.Second), g.First.Goroutines, g.Last.Goroutines, g.First.Files, g.Last.Files, g.First.Resident/mib, g.Last.Resident/mib)
}

// exceeds reports whether the process has grown by more than the limits allow.
func (g Growth) exceeds(l *Limits) bool {
	return g.Last.Goroutines-g.First.Goroutines > l.Goroutines || g.Last.Files-g.First.Files > l.Files ||
		g.Last.Resident-g.First.Resident > l.Resident
}

// judgeGrowth compares what processes used at calm moments.
func (v *Verdict) judgeGrowth(h *History, limits *Limits) {
	for _, l := range h.Logs {
		var samples []*Record
		for i := range l.Records {
			if l.Records[i].Kind == Sample {
				samples = append(samples, &l.Records[i])
			}
		}
		if len(samples) < 3 {
			continue
		}
		a, b := samples[1], samples[len(samples)-1]
		g := Growth{l.Node, l.Process, time.Duration(b.From - a.From), Use{a.Goroutines, a.Files, a.Resident}, Use{b.Goroutines, b.Files, b.Resident}}
		v.Growth = append(v.Growth, g)
		if g.exceeds(limits) {
			v.add([]Violation{{"nothing grows", g.String()}})
		}
	}
}
