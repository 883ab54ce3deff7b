package main

import (
	"time"

	"github.com/failaware/failaware/internal/bench"
)

// aims are what this library should reach on an idle machine of two cores.
func (r *Result) aims() (list []bench.Aim) {
	add := func(name string, value, limit float64, unit string, least bool) {
		list = append(list, bench.Aim{Name: name, Value: value, Limit: limit, Unit: unit, Least: least, Met: value <= limit && !least || value >= limit && least})
	}
	millis := func(d time.Duration) float64 { return float64(d) / 1e6 }
	for _, l := range r.Leading {
		if l.System != order[0] || l.Leader == nil || l.Idle == nil || l.Hog == nil {
			continue
		}
		if !l.Tight {
			add("LAN, crash → next leader, p50", millis(l.Leader.P50), 70, "ms", false)
			add("LAN, idle", l.Idle.CPU, 0.25, "% of a core", false)
			continue
		}
		add("Local, crash → next leader, p50", millis(l.Leader.P50), 20, "ms", false)
		add("Local, crash → next leader, p99", millis(l.Leader.P99), 30, "ms", false)
		add("Local, idle", l.Idle.CPU, 1, "% of a core", false)
		add("Local, gaps beside 4 spinning threads in 20 s", float64(l.Hog.Gaps)*20/l.Hog.Seconds, 20, "gaps", false)
	}
	for _, s := range r.Stored {
		if s.System == order[0] {
			add("durable operations at saturation", s.Saturated/1e3, 150, "k/s", true)
			add("durable operations at 100/s, p50", millis(s.Slow.P50), 1, "ms", false)
		}
	}
	return list
}
