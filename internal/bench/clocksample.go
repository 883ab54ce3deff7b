package bench

import (
	"cmp"
	"runtime"
	"slices"
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/timed"
)

// sample is a reading of a node's clock, between two readings of the hardware
// clock.
type sample struct {
	Before, After timed.Instant
	Time          clocksync.Time
	Deviation     time.Duration
	Timeline      clocksync.TimelineID
	Leads         bool
}

// sampleClock reads the clock repeatedly.
func (c *nodeChild) sampleClock(total, every time.Duration) (list []sample) {
	for end := c.clock.Now().Add(total); ; time.Sleep(every) {
		s := sample{Leads: c.node.Leads(), Before: c.clock.Now()}
		r := c.node.Clock()
		s.After = c.clock.Now()
		s.Time, s.Deviation, s.Timeline = r.Time, r.Deviation, r.Timeline
		list = append(list, s)
		if s.After >= end {
			return list
		}
	}
}

// Cost is the cost of one call of Node.Now.
type Cost struct {
	Nanoseconds float64 `json:"ns"`
	Allocations float64 `json:"allocations"`
	Bytes       float64 `json:"bytes"`
	// HardwareClock is the cost of reading the hardware clock in it.
	HardwareClock float64 `json:"hardware_clock_ns"`
	// Single and SingleHardware are the times of single calls of Now and of the
	// hardware clock.
	Single         Summary `json:"single"`
	SingleHardware Summary `json:"single_hardware_clock"`
}

// cost times calls of Now while the node runs. It takes the best of several runs,
// because the node's loop, which allocates a little, and other processes interfere.
func (c *nodeChild) cost(calls int) *Cost {
	const runs = 5
	best := Cost{Nanoseconds: -1}
	for range runs {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		for range calls {
			_ = c.node.Clock()
		}
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		k := Cost{Nanoseconds: float64(took) / float64(calls),
			Allocations: float64((after.Mallocs - before.Mallocs) / uint64(calls)), // whole ones, as testing.AllocsPerRun
			Bytes:       float64((after.TotalAlloc - before.TotalAlloc) / uint64(calls))}
		start = time.Now()
		for range calls {
			_ = c.clock.Read()
		}
		k.HardwareClock = float64(time.Since(start)) / float64(calls)
		if best.Nanoseconds < 0 || k.Nanoseconds < best.Nanoseconds {
			best = k
		}
	}
	best.Single, best.SingleHardware = c.singles(calls)
	return &best
}

// singles times single calls by their results: two successive readings of a clock
// differ by the time that the second one takes. This is exact to the nanosecond except
// for the slewing of the node's clock, which is a part in a thousand at most.
// Differences between timelines mean nothing and are left out.
func (c *nodeChild) singles(calls int) (now, hardware Summary) {
	took := make([]time.Duration, 0, calls)
	last := c.node.Clock()
	for range calls {
		r := c.node.Clock()
		if r.Timeline == last.Timeline {
			took = append(took, r.Time.Sub(last.Time))
		}
		last = r
	}
	now = Summarize(took)
	took = took[:0]
	before := c.clock.Read().Now
	for range calls {
		after := c.clock.Read().Now
		took = append(took, after.Sub(before))
		before = after
	}
	return now, Summarize(took)
}

// truth is group time, as the leader's own samples have it.
type truth []sample

// newTruth keeps the samples that were taken while the node led.
func newTruth(all []sample) truth {
	return slices.DeleteFunc(all, func(s sample) bool { return !s.Leads })
}

// slope returns the least and the most that a clock whose rate error is at most the
// largest slew advances during d of the hardware clock.
func slope(d time.Duration) (least, most time.Duration) {
	err := time.Duration(1 + d.Abs().Nanoseconds()*(clocksync.MaxSlewLimit)/1_000_000_000)
	return d - err, d + err
}

// bounds returns an interval that surely contained group time while f was read: between
// the leader's samples around it, and no farther from them than its clock can run.
func (t truth) bounds(f *sample) (low, high clocksync.Time, ok bool) {
	j, _ := slices.BinarySearchFunc(t, f.After, func(s sample, at timed.Instant) int { return cmp.Compare(s.Before, at) })
	if j == 0 || j == len(t) {
		return 0, 0, false
	}
	l, r := &t[j-1], &t[j]
	for l.After > f.Before {
		if j--; j == 0 {
			return 0, 0, false
		}
		l = &t[j-1]
	}
	if l.Timeline != f.Timeline || r.Timeline != f.Timeline {
		return 0, 0, false
	}
	after, _ := slope(f.Before.Sub(l.After))
	_, before := slope(r.After.Sub(f.Before))
	low = max(l.Time+clocksync.Time(after), r.Time-clocksync.Time(before))
	_, after = slope(f.After.Sub(l.Before))
	before, _ = slope(r.Before.Sub(f.After))
	high = min(l.Time+clocksync.Time(after), r.Time-clocksync.Time(before))
	return low, high, true
}
