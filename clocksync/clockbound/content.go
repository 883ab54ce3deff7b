package clockbound

import "github.com/failaware/failaware/clocksync/serve"

// Content is what a [Writer] writes to its segment, without the segment. Simulated worlds
// write and read it with clocks of their own.
type Content struct{ record record }

// Write returns the content for an estimate of UTC that was made while CLOCK_REALTIME
// showed realtime and CLOCK_MONOTONIC_COARSE showed coarse, in nanoseconds.
func Write(o Options, utc serve.Answer, realtime, coarse int64) Content {
	a := author{source: func() serve.Answer { return utc }, clocks: still{realtime, coarse}, drift: driftOf(o.Drift, o.Slew)}
	return Content{a.measure()}
}

// Read returns the interval that a [Reader] returns at these readings of the clocks.
func (c *Content) Read(realtime, coarse int64) (Interval, error) {
	return c.record.interval(realtime, coarse)
}

// still are clocks that stand still.
type still struct{ real, mono int64 }

func (s still) realtime() int64 { return s.real }
func (s still) coarse() int64   { return s.mono }
