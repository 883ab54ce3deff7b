package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/api"
)

// graceIsLeft has a node renew its lease as late as it may, and a lock ask for holds at the
// worst instants. So much is always left of the last hold that the longest --term-before ends
// no command whose node leads on.
func graceIsLeft(t testing.TB) {
	for _, timing := range []failaware.Timing{failaware.LAN(), failaware.WAN()} {
		n := api.TimingOf(timing)
		l := lockTimingOf(&n)
		period, round := time.Duration(n.ElectionPeriodNS), 2*time.Duration(n.OneWayTimeoutNS)+l.margin
		// end is that of the lease that the node has at an instant: each begins a period
		// after the one before, and is won a round later.
		end := func(at time.Duration) time.Duration {
			return (at-round)/period*period + l.longer
		}
		least := l.longer
		for at := 10 * period; at < 12*period; at += period / 1000 {
			next := at + l.renew // request, which is answered at once
			least = min(least, end(at)-l.margin-next)
		}
		require.Positive(t, l.grace)
		require.GreaterOrEqual(t, least, l.grace)
	}
}

func TestTheLongestGraceIsLeft(t *testing.T) { graceIsLeft(t) }
