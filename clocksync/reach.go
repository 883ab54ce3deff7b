package clocksync

// maxTime bounds the absolute value of the times that packets carry. Sums of such a time
// and the difference of two instants stay within 64 bits.
const maxTime = 1 << 62

// reach bounds the absolute value of the times that this machine takes over from lines,
// references and the wall clock: until the year 2097. The rest up to maxTime is headroom. A
// clock that has taken such a time over runs on for 18 years until no packet can carry its
// readings.
const reach Time = maxTime - maxTime/8

// reachable reports whether a time may be taken over.
func (t Time) reachable() bool { return -reach <= t && t <= reach }

// clamp returns the time, or the nearest one that may be taken over.
func (t Time) clamp() Time { return min(max(t, -reach), reach) }

// reachable reports whether an interval may be taken over.
func (i interval) reachable() bool { return i.low.reachable() && i.high.reachable() }
