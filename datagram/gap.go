package datagram

import (
	"time"

	"github.com/failaware/failaware/internal/mutant"
	"github.com/failaware/failaware/timed"
)

// lowerGap is g(S−B): a lower bound of the real time between the helper's
// arrival and the message's departure. When packets overtake, B is after S and
// the gap is negative; without the sign rule the bound falls below the truth.
func lowerGap(x time.Duration, rho timed.Drift) time.Duration {
	if mutant.On(mutant.DelayWithoutG) {
		return x - time.Duration(float64(x)*float64(rho)/1e9)
	}
	if mutant.On(mutant.DelayWithoutDrift) {
		return x + rho.Slack(x, 1)
	}
	return rho.Lower(x)
}
