package sim

import (
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/sim/situation"
	"github.com/failaware/failaware/timed"
)

// Limits of the settings that processes of an unequal world draw, in units of those of
// the options.
const (
	longestLock    = 3
	longestMaxLock = 4
	longestExpires = 5
)

// slowest returns the settings with the largest bounds: those of the options or, in an
// unequal world, the longest that a process may draw.
func (o *Options) slowest() timed.Timing {
	t := o.Timing
	if o.Unequal {
		t.LockTime, t.MaxLockTime, t.Expires = longestLock*t.LockTime, longestMaxLock*t.LockTime, longestExpires*t.Expires
	}
	return t
}

// drawSettings draws the settings of a starting process in an unequal world.
func (w *World) drawSettings(n *Node) {
	n.timing, n.newest, n.proc.Slew, n.weight = w.opt.Timing, wire.Version, clocksync.DefaultMaxSlew, 0
	if !w.opt.Unequal {
		return
	}
	patient := w.seed%4 < 2 // in versions before WithHeard such processes misunderstand refusals
	if !patient && (w.seed+uint64(n.proc.Index)+n.processes)%3 == 0 {
		n.newest = wire.Oldest
	}
	s, t := w.settings, &n.timing
	least, usual := float64(t.LeastLockTime()), float64(t.LockTime)
	t.LockTime = max(time.Duration(s.LogUniform(least, longestLock*usual)), t.LeastLockTime())
	t.MaxLockTime = t.LockTime
	switch {
	case w.seed%2 == 0: // all votes are long, and some much longer than the LockTime of the process
		t.MaxLockTime = time.Duration(s.LogUniform(longestLock*usual, longestMaxLock*usual))
	case s.Chance(0.5):
		t.MaxLockTime = time.Duration(s.LogUniform(float64(t.LockTime), longestMaxLock*usual))
	}
	n.proc.Slew = s.Between(min(clocksync.LeastSlew(t.MaxDrift), clocksync.MaxSlewLimit), clocksync.MaxSlewLimit)
	n.weight = uint16(s.Below(3))
	if least := t.LeastExpires(); patient {
		t.Expires = max(time.Duration(s.LogUniform(float64(least), longestExpires*float64(t.Expires))), least)
		t.KeepalivePeriod = time.Duration(s.LogUniform(0.5, 1) * float64(t.KeepalivePeriod))
		t.ElectionPeriod = time.Duration(s.LogUniform(0.5, 1) * float64(t.ElectionPeriod))
	}
	if t.MaxLockTime < n.longestVote {
		w.check.Sometimes(situation.LockLowered)
	}
}

// countUnequal counts packets in an older version than their node speaks, requests for less
// than its LockTime, and refusals of a node whose own Expires has passed.
func (w *World) countUnequal(n *Node, p *wire.Packet) {
	if p.Header.Version < n.newest {
		w.check.Sometimes(situation.OlderVersion)
	}
	if p.Has(wire.FrameRequest) && p.Request.LockTime < n.timing.LockTime {
		w.check.Sometimes(situation.LockCut)
	}
	if p.Has(wire.FrameInUse) && p.InUseAge > w.nodes[p.Header.Destination-1].timing.Expires {
		w.check.Sometimes(situation.RefusedPatiently)
	}
}
