package clocksync

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/timed"
)

// The sample of an exchange contains UTC if the server is right. Whatever the server says, the
// sample contains the server's time and is no wider than the exchange and the server's error.
func exchangesHold(t testing.TB) {
	rho := timed.LAN().MaxDrift
	rapid.Check(t, func(t *rapid.T) {
		clock := testClock{start, drawRate.Draw(t, "rate")}
		duration := rapid.OneOf(rapid.Int64Range(0, 1e6), rapid.Int64Range(0, 2e9))
		there, held, back := duration.Draw(t, "question"), duration.Draw(t, "held"), duration.Draw(t, "answer")
		distance := duration.Draw(t, "distance")
		sent, received := clock.at(0), clock.at(there+held+back)
		left := wall + Time(rapid.Int64Range(-distance, distance).Draw(t, "error"))
		exchange := func(arrived Time) Sample {
			s := FromExchange(1, sent, received, arrived, left, time.Duration(distance), rho)
			require.Equal(t, left-Time(distance), s.Low)
			require.GreaterOrEqual(t, s.High, left+Time(distance), "the server's own time is in it")
			require.LessOrEqual(t, s.High, left+Time(distance)+Time(rho.Upper(received.Sub(sent))), "the answer took no longer than all")
			return s
		}
		// The server's clock may slew by an eighth while it holds the question.
		right := exchange(left - Time(rapid.Int64Range(held-held/8, held+held/8).Draw(t, "measured")))
		require.GreaterOrEqual(t, right.High+2, wall+Time(back))
		exchange(left - Time(rapid.Int64Range(-10e9, 10e9).Draw(t, "said")))
	})
}

func TestExchangesHoldUTC(t *testing.T) { exchangesHold(t) }
