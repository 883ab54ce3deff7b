package timed

import "time"

// aroundKeepalives is how many keepalive periods may pass between two direct
// packets to a peer that is told in between, by way of others, that this node
// is there: rare enough that they cost little, and often enough that a link
// which works one way only is noticed soon.
const aroundKeepalives = 8

// AroundPeriod returns for how long a node may reach a peer by way of others
// only. The direct packets in between keep the delay bounds tight: with helpers
// of that age, two timely messages must still give a bound of at most Δ, as in
// [Timing.LeastFast] with KP. Where that allows no more than KP, it is KP.
func (t Timing) AroundPeriod() time.Duration {
	most := aroundKeepalives * t.KeepalivePeriod
	if t.MaxDrift == 0 {
		return most
	}
	// LeastFast counts one KP of ageing; what Δ has beyond that may be spent on more.
	spare := t.FastThreshold - t.LeastFast()
	older := time.Duration(int64(spare) * billion / (4 * int64(t.MaxDrift)))
	return max(t.KeepalivePeriod, min(most, t.KeepalivePeriod+older))
}
