package clockbound

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"time"

	"github.com/failaware/failaware/timed"
)

// Status tells how far a bound may be trusted.
type Status int32

const (
	Unknown      Status = 0 // there is no bound
	Synchronized Status = 1
	FreeRunning  Status = 2 // the bound holds, but is not kept small
	Disrupted    Status = 3 // the clock was stepped: there is no bound for the moment
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
	// Grace is how old an update may be for its status to be believed: clients
	// allow for a restart of the writer.
	Grace = 5 * time.Second
	// Validity is how old an update may be for its bound to be believed.
	Validity = time.Minute
	// DefaultSlew is the fastest slewing of the kernel's clock that is expected
	// if nothing else is said, in parts per billion: that of adjtime.
	DefaultSlew = 500_000
	// MaxSlew is the fastest slewing that can be asked for: the kernel's limit
	// on the length of a tick is one tenth.
	MaxSlew = 100_000_000

	// maxDriftLimit is where clients take a segment for damaged.
	maxDriftLimit = 1_000_000_000

	// noBound is written where no bound is known. A client that ignores the
	// status is not to find a small one; clients add to it and convert it, so it
	// is not the largest number either. It is about 100 days.
	noBound = 1 << 53
)

// record is the content of the segment behind its header.
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

// at judges what CLOCK_REALTIME showed, when CLOCK_MONOTONIC_COARSE showed mono
// a moment later.
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
	bound := r.bound + grown(age, r.maxDrift)
	if bound < 0 || bound > noBound {
		bound = noBound
	}
	i.earliest, i.latest = realtime-bound, realtime+bound
	return i, nil
}

// grown returns what a clock with this rate error may lose or gain in age,
// rounded up.
func grown(age int64, ppb uint32) int64 {
	hi, lo := bits.Mul64(uint64(age), uint64(ppb))
	lo, carry := bits.Add64(lo, 1e9-1, 0)
	hi += carry
	if hi >= 1e9 {
		return math.MaxInt64 / 2
	}
	q, _ := bits.Div64(hi, lo, 1e9)
	return int64(min(q, math.MaxInt64/2))
}

// driftOf returns the rate error of CLOCK_REALTIME that readers are told: the
// hardware's and that of the slewing, on a clock that is itself slewed by as much.
// Of a sum σ of at most 0.11, σ² + σ²/2 covers both the product of the two and what
// the measuring clock hides when it is slow.
func driftOf(rho timed.Drift, slew int64) uint32 {
	sum := int64(rho) + slew
	return uint32(sum + (sum*sum+sum*sum/2)/1e9 + 1)
}
