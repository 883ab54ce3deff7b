package hwclock

import (
	"errors"
	"time"

	"github.com/failaware/failaware/timed"
)

const (
	// rateEvery is how often the kernel is asked about its clock.
	rateEvery = time.Minute
	// doubtful is how many answers in a row, againEvery apart, blame a clock that was fine. The
	// correction contains the slew of a phase, which chrony makes the shorter the larger the phase is:
	// mostly it takes seconds.
	doubtful   = 3
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
	before, warned, faulty := RateUnknown, false, 0
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
		wait := rateEvery
		if verdict == RateFaulty {
			wait = againEvery
			if faulty++; faulty < doubtful && (before == RateFine || before == RateSuspect) {
				verdict = before
			}
		} else {
			faulty = 0
		}
		if verdict != before {
			w.JudgeRate(verdict, status)
			before = verdict
		}
		select {
		case <-stop:
			return
		case <-time.After(wait):
		}
	}
}
