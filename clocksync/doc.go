// Package clocksync is the fail-aware clock synchronization service. Each logical
// partition follows its leader's group time, and every reading carries a bound on its
// error.
//
// The datagram layer keeps an interval for the difference of any two hardware clocks. The
// leader's requests announce group time as a line over its own hardware clock. A follower
// maps its own clock through the interval and the line, and so knows an interval that
// contains group time. This takes no extra messages. The displayed clock slews towards
// the middle of that interval. The deviation of a [Reading] is the distance to the middle
// plus half the width at the instant of reading. Bounds grow with the age of the
// evidence, so readings lose their status by themselves when nothing is heard: the loss
// of the leader is holdover, not an error.
//
// Programs use package failaware, whose nodes run one [Sync] each, a pure machine for one
// goroutine that acts only on calls. The clock answers with a [Reading], and [Order]
// compares two. Any goroutine may read a [Snapshot]. docs/internals/clocks.md has the rules,
// and the proof of the bounds.
package clocksync
