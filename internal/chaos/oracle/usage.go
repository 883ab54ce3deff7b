package oracle

import (
	"fmt"
	"time"
)

// Use has the resources that a process uses at one moment, or their growth.
type Use struct {
	Goroutines int
	Files      int   // open ones
	Live       int64 // bytes of the heap after a collection
	Resident   int64 // bytes of memory, without those of files
}

const mib = 1 << 20

// exceeds reports whether any resource exceeds its limit.
func (u Use) exceeds(l Use) bool {
	return u.Goroutines > l.Goroutines || u.Files > l.Files || u.Live > l.Live || u.Resident > l.Resident
}

// Growth compares the resources of a process at its second calm moment and at its last one,
// For later. At the first one it had not yet reached its size.
type Growth struct {
	Node, Process int
	For           time.Duration
	First, Last   Use
	// Settled is the time of observation after the first five minutes, and Slope the growth
	// during it, along the straight line closest to the samples. Both are zero if that time
	// is shorter than five minutes.
	Settled time.Duration
	Slope   Use
}

func (g Growth) String() string {
	text := fmt.Sprintf("node %d, process %d, in %v: goroutines %d to %d, files %d to %d, live heap %.1f to %.1f MiB, memory %.1f to %.1f MiB", g.Node, g.Process,
		g.For.Round(time.Second), g.First.Goroutines, g.Last.Goroutines, g.First.Files, g.Last.Files,
		float64(g.First.Live)/mib, float64(g.Last.Live)/mib, float64(g.First.Resident)/mib, float64(g.Last.Resident)/mib)
	if g.Settled > 0 {
		hours := g.Settled.Hours()
		text += fmt.Sprintf("; in an hour, by the slope of the last %v: goroutines %+.1f, files %+.1f, live heap %+.2f MiB, memory %+.2f MiB", g.Settled.Round(time.Second),
			float64(g.Slope.Goroutines)/hours, float64(g.Slope.Files)/hours, float64(g.Slope.Live)/mib/hours, float64(g.Slope.Resident)/mib/hours)
	}
	return text
}

// minus returns the growth from another use to this one.
func (u Use) minus(o Use) Use {
	return Use{u.Goroutines - o.Goroutines, u.Files - o.Files, u.Live - o.Live, u.Resident - o.Resident}
}

// use returns what a sample says.
func (r *Record) use() Use { return Use{r.Goroutines, r.Files, r.Live, r.Resident} }

// judgeGrowth compares the resources of processes at calm moments.
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
		g := Growth{Node: l.Node, Process: l.Process, For: time.Duration(b.From - a.From), First: a.use(), Last: b.use()}
		g.settle(samples)
		v.Growth = append(v.Growth, g)
		if g.Last.minus(g.First).exceeds(limits.Most) || g.Slope.exceeds(limits.Settled) {
			v.add([]Violation{{"nothing grows", g.String()}})
		}
	}
}

// settling is how long a process may take to reach its size, and the least time of observation
// after that.
const settling = 5 * time.Minute

// settle computes Settled and Slope.
func (g *Growth) settle(samples []*Record) {
	from := samples[0].From
	for len(samples) > 0 && samples[0].From < from+int64(settling) {
		samples = samples[1:]
	}
	if len(samples) < 3 || samples[len(samples)-1].From-samples[0].From < int64(settling) {
		return
	}
	g.Settled = time.Duration(samples[len(samples)-1].From - samples[0].From)
	slope := func(of func(Use) float64) float64 { return rise(samples, of) * float64(g.Settled) }
	g.Slope = Use{
		Goroutines: int(slope(func(u Use) float64 { return float64(u.Goroutines) })),
		Files:      int(slope(func(u Use) float64 { return float64(u.Files) })),
		Live:       int64(slope(func(u Use) float64 { return float64(u.Live) })),
		Resident:   int64(slope(func(u Use) float64 { return float64(u.Resident) })),
	}
}

// rise returns the growth of a resource per nanosecond, by least squares.
func rise(samples []*Record, of func(Use) float64) float64 {
	n, times, values := float64(len(samples)), 0.0, 0.0
	for _, s := range samples {
		times += float64(s.From-samples[0].From) / n
		values += of(s.use()) / n
	}
	products, squares := 0.0, 0.0
	for _, s := range samples {
		t := float64(s.From-samples[0].From) - times
		products += t * (of(s.use()) - values)
		squares += t * t
	}
	return products / squares
}
