package hwclock

import (
	"errors"
	"time"

	"github.com/failaware/failaware/timed"
)

// rateEvery is how often the kernel is asked about its clock.
const rateEvery = time.Minute

// WatchRate compares the corrections of the kernel's clock with ρ until stop is closed,
// and calls changed with each new verdict. It returns at once if the system does not
// report its corrections. It runs in a goroutine of its own.
func WatchRate(stop <-chan struct{}, rho timed.Drift, changed func(Verdict, Status)) {
	watchRate(stop, rho, Discipline, changed)
}

func watchRate(stop <-chan struct{}, rho timed.Drift, ask func() (Status, error), changed func(Verdict, Status)) {
	tick := time.NewTicker(rateEvery)
	defer tick.Stop()
	before := RateUnknown
	for {
		status, err := ask()
		if errors.Is(err, errors.ErrUnsupported) {
			return
		}
		verdict := RateUnknown // after an error: the next answer may be better
		if err == nil {
			verdict = status.Judge(rho)
		}
		if verdict != before {
			changed(verdict, status)
			before = verdict
		}
		select {
		case <-stop:
			return
		case <-tick.C:
		}
	}
}
