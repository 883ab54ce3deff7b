package hwclock

import (
	"errors"
	"time"

	"github.com/failaware/failaware/timed"
)

// How often the kernel is asked about its clock, and about one that breaks ρ: the correction
// contains the slew of a phase, which mostly takes seconds.
const (
	rateEvery  = time.Minute
	againEvery = 15 * time.Second
)

// Watcher hears what a watch of the kernel's clock finds.
type Watcher interface {
	// JudgeRate takes a new verdict.
	JudgeRate(Verdict, Status)
	// WarnUnwatched takes the first error of the kernel, which may forbid the question.
	WarnUnwatched(error)
}

// WatchRate compares the corrections of the kernel's clock with ρ until stop is closed. It
// returns at once if the system does not report its corrections. It runs in a goroutine of
// its own.
func WatchRate(stop <-chan struct{}, rho timed.Drift, w Watcher) {
	watchRate(stop, rho, Discipline, w)
}

func watchRate(stop <-chan struct{}, rho timed.Drift, ask func() (Status, error), w Watcher) {
	before, warned := RateUnknown, false
	for {
		status, err := ask()
		if errors.Is(err, errors.ErrUnsupported) {
			return
		}
		verdict := RateUnknown // after an error: the next answer may be better
		switch {
		case err == nil:
			verdict = status.Judge(rho)
		case !warned:
			w.WarnUnwatched(err)
			warned = true
		}
		if verdict != before {
			w.JudgeRate(verdict, status)
			before = verdict
		}
		wait := rateEvery
		if verdict == RateFaulty {
			wait = againEvery
		}
		select {
		case <-stop:
			return
		case <-time.After(wait):
		}
	}
}
