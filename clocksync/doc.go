// Package clocksync is the fail-aware clock synchronization service: each
// logical partition follows its leader's group time, and every reading says how
// far off it can be.
//
// The datagram layer keeps an interval for the difference of any two hardware
// clocks. The leader's requests announce group time as a line over its own
// hardware clock; a follower maps its own clock through the interval and the
// line, and so knows an interval that contains group time. No extra message is
// ever sent. The displayed clock slews towards the middle of that interval, and
// the deviation that a [Reading] claims is the distance to the middle plus half
// the width, evaluated at the instant of reading. Bounds grow with time since
// the last evidence, so the flag drops by itself when nothing is heard: loss of
// the leader is holdover, not an error.
//
// [Sync] is a pure machine, owned by one goroutine; a [Snapshot] of it may be
// read by anyone.
package clocksync
