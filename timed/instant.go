package timed

import (
	"math"
	"time"
)

// Instant is a reading of one node's hardware clock, in nanoseconds since an
// arbitrary origin of that clock. Instants of different nodes cannot be
// compared; only the datagram layer's offset bounds relate them.
type Instant int64

// Never is an instant that no hardware clock reaches. The deadline Never means
// that nothing is due.
const Never Instant = math.MaxInt64

// Add returns the instant d after t. It saturates instead of wrapping, so that
// Never plus anything stays Never.
func (t Instant) Add(d time.Duration) Instant {
	s := t + Instant(d)
	if d >= 0 {
		if s < t {
			return Never
		}
	} else if s > t {
		return math.MinInt64
	}
	return s
}

// Sub returns the duration t − u.
func (t Instant) Sub(u Instant) time.Duration { return time.Duration(t - u) }

// Before reports whether t is earlier than u.
func (t Instant) Before(u Instant) bool { return t < u }

// Earlier returns the earlier of two instants.
func Earlier(t, u Instant) Instant { return min(t, u) }

// Later returns the later of two instants.
func Later(t, u Instant) Instant { return max(t, u) }
