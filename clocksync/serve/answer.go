// Package serve is what stands between a node's clock and the ways in which
// other programs get time from it: an NTP server and a shared-memory segment.
package serve

import (
	"time"

	"github.com/failaware/failaware/clocksync"
)

// Answer is UTC at one instant of the call that returned it.
type Answer struct {
	// Time is the estimate of UTC.
	Time clocksync.Time
	// Bound is a proven bound on |Time − UTC|, or [clocksync.UnknownBound]. A
	// negative one counts as unknown.
	Bound time.Duration
	// External tells that Bound is as small as the configuration asks for.
	External bool
	// Leap is the leap second at the end of the UTC month; it means something only
	// while External.
	Leap clocksync.Leap
}

// Known reports whether there is a bound.
func (a Answer) Known() bool { return a.Bound >= 0 && a.Bound != clocksync.UnknownBound }

// Synchronized reports whether programs may be told that this is UTC.
func (a Answer) Synchronized() bool { return a.External && a.Known() }

// Source returns UTC as it is known now. It is called by several goroutines at
// once, and must neither block nor return what it read before it was called.
type Source func() Answer
