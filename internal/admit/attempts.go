package admit

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// The limits of [Attempts]: how many at once, and how often one more is allowed.
const (
	knownBurst = 64
	knownEvery = time.Millisecond
	otherBurst = 512
	otherEvery = 100 * time.Microsecond

	foreignBurst = 16
	foreignEvery = 10 * time.Millisecond
)

// Attempts limits how many packets of unknown incarnations are opened. Each of them
// costs the derivation of a key before it turns out to be junk. Every peer has a limit of
// its own for packets that come from its address, so a flood from elsewhere does not keep
// a peer out that starts again. Packets of known incarnations have no limit: they cost
// less. The zero Attempts allows the first ones.
type Attempts struct {
	known   [timed.MaxNodes + 1]bucket
	other   bucket
	foreign bucket
}

// Allow reports whether a packet that claims to come from a peer may be opened. at says
// that it comes from the address where packets to that peer go.
func (a *Attempts) Allow(now timed.Instant, from timed.NodeID, at bool) bool {
	if at {
		return a.known[from].take(now, knownBurst, knownEvery)
	}
	return a.other.take(now, otherBurst, otherEvery)
}

// AllowForeign reports whether a packet of another group may be opened, only to name its
// sender. Such packets do not use up the limits of the others.
func (a *Attempts) AllowForeign(now timed.Instant) bool {
	return a.foreign.take(now, foreignBurst, foreignEvery)
}

// bucket is a token bucket: full is the instant at which it has all tokens.
type bucket struct{ full timed.Instant }

func (b *bucket) take(now timed.Instant, burst int, every time.Duration) bool {
	next := timed.Later(b.full, now).Add(every)
	if next.Sub(now) > time.Duration(burst)*every {
		if b.full.Sub(now) > time.Duration(burst)*every {
			b.full = 0 // the clock ran backwards
		}
		return false
	}
	b.full = next
	return true
}
