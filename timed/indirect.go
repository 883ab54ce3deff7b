package timed

import (
	"math/bits"
	"time"
)

// indirectKeepalives is the number of keepalive periods between two direct
// packets to a peer that meanwhile hears of this node through others. Direct
// packets are then rare enough to cost little, and frequent enough to detect
// one-way links soon.
const indirectKeepalives = 8

// IndirectPeriod returns how long a node may reach a peer only through others.
// The direct packets in between keep the delay bounds tight: with helpers of
// that age, two timely messages must still give a bound of at most Δ, as in
// [Timing.LeastFast] with KP. The result is at least KP.
func (t Timing) IndirectPeriod() time.Duration {
	most := indirectKeepalives * t.KeepalivePeriod
	if t.MaxDrift == 0 {
		return most
	}
	// LeastFast counts one KP of ageing; the rest of Δ allows more.
	spare, rate := max(0, t.FastThreshold-t.LeastFast()), 4*uint64(t.MaxDrift)
	high, low := bits.Mul64(uint64(spare), billion)
	if high >= rate {
		return most // the quotient does not fit
	}
	older, _ := bits.Div64(high, low, rate)
	return min(most, t.KeepalivePeriod+time.Duration(min(older, uint64(most))))
}

// WordLasts returns for how long after a peer's last direct packet the word of others about
// it counts. A word extends the peer's life by Expires, and the latest that counts may be a
// VouchedPeriod old. So the peer lives for two periods of direct packets at least, and the
// loss of one such packet ends nothing. A link that fails one way shows within an
// IndirectPeriod and an Expires after that, which the upper limit keeps within
// 2·IndirectPeriod + 4·Expires.
func (t Timing) WordLasts() time.Duration {
	period := t.IndirectPeriod()
	two := t.MaxDrift.Upper(2*(period+t.SchedulingDelay)) + t.FastThreshold
	return max(period+t.Expires, min(two+t.VouchedPeriod()-t.Expires, period+3*t.Expires))
}

// VouchedPeriod returns how old a leader's word for its members may be so that they count on
// the next one: a period of requests, and the way of the request. If it is older an answer is
// missing, and the members send to each other directly.
func (t Timing) VouchedPeriod() time.Duration {
	return t.MaxDrift.Upper(t.Period() + t.SchedulingDelay + t.FastThreshold)
}
