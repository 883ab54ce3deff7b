package hwclock

import "github.com/failaware/failaware/timed"

// Status reports the findings of time synchronization about this machine's clock.
type Status struct {
	// Synchronized reports whether the kernel's clock is disciplined. If it is not,
	// RateError means nothing.
	Synchronized bool
	// RateError is the correction of the clock's rate by synchronization, in parts
	// per billion: positive when the uncorrected clock is slow. H is not corrected,
	// so this is H's own rate error.
	RateError int64
}

// Verdict is the meaning of a [Status] for a drift bound.
type Verdict uint8

const (
	// RateUnknown means that the kernel's clock is not disciplined, or that the kernel
	// does not tell. An earlier verdict stands: a rate does not change because nobody
	// measures it.
	RateUnknown Verdict = iota
	// RateFine means that the rate was measured and keeps ρ.
	RateFine
	// RateSuspect means that the rate error exceeds 0.7ρ: worth a warning.
	RateSuspect
	// RateFaulty means that the rate error exceeds ρ: a clock fault.
	RateFaulty
)

func (v Verdict) String() string {
	switch v {
	case RateFine:
		return "fine"
	case RateSuspect:
		return "suspect"
	case RateFaulty:
		return "faulty"
	}
	return "unknown"
}

// Judge compares the rate error with the drift bound ρ that this node promises.
func (s Status) Judge(rho timed.Drift) Verdict {
	ppb := s.RateError
	if ppb < 0 {
		ppb = -ppb
	}
	switch {
	case !s.Synchronized:
		return RateUnknown
	case ppb > int64(rho):
		return RateFaulty
	case 10*ppb > 7*int64(rho):
		return RateSuspect
	}
	return RateFine
}

// rateError adds the kernel's two corrections of the rate, in parts per billion.
// freq is in units of 2⁻¹⁶ parts per million. tick is the length of one tick of
// the kernel's 100 Hz user clock in microseconds, so that each microsecond off
// 10,000 is 100 parts per million. The sum is rounded away from zero, against
// the clock.
func rateError(freq, tick int64) int64 {
	const nominalTick, tickPPB = 10_000, 100_000
	const unit = 1 << 16
	scaled := freq*1000 + (tick-nominalTick)*tickPPB*unit
	ppb, rest := scaled/unit, scaled%unit
	switch {
	case rest > 0:
		ppb++
	case rest < 0:
		ppb--
	}
	return ppb
}
