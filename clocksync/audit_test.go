package clocksync

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// Each invariant is noticed when it is broken, and none before.
func TestAudits(t *testing.T) {
	const now timed.Instant = 1e12
	for invariant, breakIt := range map[string]func(*Sync){
		"another node's timeline": func(c *Sync) { c.snap.id.Leader = 9 },
		"runs backwards":          func(c *Sync) { c.snap.shown -= 2 },
		"negative bound":          func(c *Sync) { c.snap.half = -1 },
	} {
		c := New(Config{Self: timed.Incarnation{Node: 1, Boot: 1}, Timing: timed.LAN(), MaxSlew: DefaultMaxSlew}, now, 0)
		c.HandleLead(now, nil)
		require.Empty(t, c.Audit(now))
		require.Empty(t, c.Audit(now+1))
		breakIt(c)
		require.Contains(t, c.Audit(now+2), invariant)
	}
}

// A wall clock may be wrong by decades.
func TestAClockFromBefore1970IsAudited(t *testing.T) {
	c := New(Config{Self: timed.Incarnation{Node: 1, Boot: 1}, Timing: timed.LAN()}, 7, -1e18)
	require.Empty(t, c.Audit(7))
}
