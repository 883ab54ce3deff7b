// Package serve defines how an NTP server and a shared-memory segment read UTC from a
// node.
package serve

import (
	"time"

	"github.com/failaware/failaware/clocksync"
)

// Answer is UTC at some instant during the call that returned it.
type Answer struct {
	// Time is the estimate of UTC.
	Time clocksync.Time
	// Bound is a proven bound on |Time − UTC|, or [clocksync.UnknownBound]. A
	// negative bound counts as unknown.
	Bound time.Duration
	// External means that Bound is as small as the configuration requires.
	External bool
	// Leap is the leap second at the end of the UTC month. It is valid only if
	// External is set.
	Leap clocksync.Leap
}

// Of returns the answer that a reading of group time gives.
func Of(r clocksync.Reading) Answer {
	return Answer{Time: r.Time, Bound: r.UTCBound, External: r.Status == clocksync.External, Leap: r.Leap}
}

// Known reports whether there is a bound.
func (a Answer) Known() bool { return a.Bound >= 0 && a.Bound != clocksync.UnknownBound }

// Synchronized reports whether Time may be served as synchronized.
func (a Answer) Synchronized() bool { return a.External && a.Known() }

// Source returns the current estimate of UTC, read during the call. It must not block
// and must be safe for concurrent use.
type Source func() Answer
