package datagram

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// lowerGap is g(S−B): a lower bound of the real time between the helper's arrival
// and the message's departure. When packets overtake, B is after S and the gap is
// negative. Without the sign rule, the bound would fall below the truth.
func lowerGap(x time.Duration, rho timed.Drift) time.Duration {
	return rho.Lower(x)
}
