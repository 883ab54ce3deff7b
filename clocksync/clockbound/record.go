package clockbound

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"time"

	"github.com/failaware/failaware/timed"
)

// Status is the quality of a bound.
type Status int32

const (
	Unknown      Status = 0 // no bound is known
	Synchronized Status = 1
	FreeRunning  Status = 2 // the bound holds but may be large
	Disrupted    Status = 3 // the clock was stepped, so there is no bound yet
)

func (s Status) String() string {
	switch s {
	case Unknown:
		return "unknown"
	case Synchronized:
		return "synchronized"
	case FreeRunning:
		return "free running"
	case Disrupted:
		return "disrupted"
	}
	return fmt.Sprintf("status %d", int32(s))
}

const (
	// Grace is the age up to which clients believe the status of an update. It
	// allows for a restart of the writer.
	Grace = 5 * time.Second
	// Validity is the age up to which clients believe the bound of an update.
	Validity = time.Minute
	// DefaultSlew is the slew rate of adjtime in parts per billion.
	DefaultSlew = 500_000
	// MaxSlew is the fastest slew rate that the kernel allows, in parts per
	// billion. The length of a tick may change by at most one tenth.
	MaxSlew = 100_000_000

	// maxDriftLimit is the drift from which clients consider a segment damaged.
	maxDriftLimit = 1_000_000_000

	// noBound is written if no bound is known, about 100 days in nanoseconds. It
	// is large for clients that ignore the status, and far from overflow for
	// clients that add to it or convert it.
	noBound = 1 << 53
)

// record is the content of the segment after its header.
type record struct {
	asOf, voidAfter int64 // CLOCK_MONOTONIC_COARSE, nanoseconds
	bound           int64 // nanoseconds
	marker          uint64
	maxDrift        uint32 // parts per billion
	status          Status
}

// interval is a time of CLOCK_REALTIME with its bounds, in nanoseconds since the
// Unix epoch.
type interval struct {
	earliest, latest int64
	status           Status
}

var errCausality = errors.New("clockbound: the segment is from another boot of the machine, or from the future")

// at returns the interval around a reading of CLOCK_REALTIME that was followed by
// the reading mono of CLOCK_MONOTONIC_COARSE.
func (r *record) at(realtime, mono int64) (interval, error) {
	switch {
	case r.maxDrift >= maxDriftLimit || r.bound < 0 || r.status < Unknown || r.status > Disrupted:
		return interval{}, fmt.Errorf("%w: bound %d ns, drift %d ppb, %v", ErrMalformed, r.bound, r.maxDrift, r.status)
	case mono < r.asOf:
		return interval{}, errCausality
	}
	age := mono - r.asOf
	i := interval{status: r.status}
	if r.status == Synchronized || r.status == FreeRunning {
		switch {
		case mono >= r.voidAfter:
			i.status = Unknown
		case age >= int64(Grace):
			i.status = FreeRunning
		}
	}
	bound := r.bound + growth(age, r.maxDrift)
	if bound < 0 || bound > noBound {
		bound = noBound
	}
	i.earliest, i.latest = realtime-bound, realtime+bound
	return i, nil
}

// growth returns how much a clock with a rate error of ppb may lose or gain in age,
// rounded up.
func growth(age int64, ppb uint32) int64 {
	hi, lo := bits.Mul64(uint64(age), uint64(ppb))
	lo, carry := bits.Add64(lo, 1e9-1, 0)
	hi += carry
	if hi >= 1e9 {
		return math.MaxInt64 / 2
	}
	q, _ := bits.Div64(hi, lo, 1e9)
	return int64(min(q, math.MaxInt64/2))
}

// driftOf returns the rate error of CLOCK_REALTIME for the segment. It covers the
// drift of the hardware and the slewing, as measured by a clock with the same
// errors. For a sum s of at most 0.11, s² + s²/2 covers both the product of the two
// errors and the measurement by a slow clock.
func driftOf(rho timed.Drift, slew int64) uint32 {
	sum := int64(rho) + slew
	return uint32(sum + (sum*sum+sum*sum/2)/1e9 + 1)
}
