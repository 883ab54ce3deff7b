package datagram

import (
	"math"
	"time"

	"github.com/failaware/failaware/timed"
)

// Delay is the receiver's knowledge of a message's transmission delay.
type Delay struct {
	// Bound is a proven upper bound of the delay in real time, or [Unknown].
	Bound time.Duration
	// Fast reports Bound ≤ Δ.
	Fast bool
}

// steps is how much a bound, or the two ends of an offset interval together, can lose by
// the granularity of the clocks. Each rests on two pairs.
const steps = 4 * timed.Granule

// Unknown is the bound of a message without a helper.
const Unknown time.Duration = math.MaxInt64

// Pair is a helper: a message sent when the sender's clock showed Sent and received
// when the receiver's showed Received.
type Pair struct{ Sent, Received timed.Instant }

// better reports whether p is a better helper than q: whether its key
// B(1−ρ) − A(1+ρ) is smaller. Keys are compared by differences of stamps, because
// stamps are large and their products would lose the nanoseconds.
func (p Pair) better(q Pair, rho timed.Drift) bool {
	dB, dA := p.Received.Sub(q.Received), p.Sent.Sub(q.Sent)
	s := dA + dB
	if s >= 0 {
		return dB-dA < rho.Slack(s, 1)
	}
	return dB-dA < -rho.Slack(s, 1)
}

// bound returns ub(m) for a message sent at s on the peer's clock and received at r
// on ours, by helper h, which we sent and the peer received.
func bound(h Pair, s, r timed.Instant, rho timed.Drift, minDelay time.Duration) time.Duration {
	// The gap between the helper's arrival and the message's departure is negative when
	// packets overtook.
	gap := rho.Lower(s.Sub(h.Received))
	return rho.Upper(r.Sub(h.Sent)) - gap - minDelay
}
