package timed

import "time"

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
	spare := t.FastThreshold - t.LeastFast()
	older := time.Duration(int64(spare) * billion / (4 * int64(t.MaxDrift)))
	return max(t.KeepalivePeriod, min(most, t.KeepalivePeriod+older))
}

// VouchedPeriod returns how old a leader's word for its members may be so that they count on
// the next one: a period of requests, and the way of the request. If it is older an answer is
// missing, and the members send to each other directly.
func (t Timing) VouchedPeriod() time.Duration {
	return t.MaxDrift.Upper(t.Period() + t.SchedulingDelay + t.FastThreshold)
}
