package hwclock

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// RealtimeSample relates CLOCK_REALTIME, in which the kernel stamps packets, to
// H at one instant.
type RealtimeSample struct {
	// At is H at the sampling.
	At timed.Instant
	// Offset is REALTIME − H, and never too large: a conversion to H by it is
	// never too early on account of the sampling.
	Offset time.Duration
}

// SampleRealtime samples the offset of CLOCK_REALTIME. REALTIME is read first
// and H after it: the time in between makes the offset smaller, and thus
// converted stamps later, which only loosens a delay bound.
func (c *Clock) SampleRealtime() RealtimeSample {
	realtime := time.Now().UnixNano()
	now := c.Now()
	return RealtimeSample{At: now, Offset: time.Duration(realtime - int64(now))}
}

// maxBracket is the largest distance of two samples between which stamps are
// converted. In a longer time the slewing of REALTIME may turn round, and then
// neither of the two offsets is the extreme one.
const maxBracket = time.Second

// Receipt returns the instant of H at which a packet counts as received that
// the kernel stamped with stamp, in nanoseconds of CLOCK_REALTIME. before is a
// sample from before the packet arrived, and after is one that was taken when
// it had been read.
//
// The result is the later of the two conversions, but not later than after.At.
// It is after.At itself when the stamp does not lie between the samples, or
// these are more than a second apart. A single step of REALTIME between the
// samples makes the result later at most, if at all; the caller must not
// convert when several may have happened (see [StepWatch]).
func Receipt(stamp int64, before, after RealtimeSample) timed.Instant {
	if after.At.Sub(before.At) > maxBracket {
		return after.At
	}
	old := timed.Instant(stamp - int64(before.Offset))
	if old < before.At {
		return after.At
	}
	return timed.Earlier(after.At, timed.Later(old, timed.Instant(stamp-int64(after.Offset))))
}
