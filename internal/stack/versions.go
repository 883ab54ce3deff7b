package stack

import (
	"time"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// versions chooses the version of the wire format for each peer: the newest that both speak.
// The packets of a peer tell its newest version.
type versions struct {
	newest uint8         // that this node speaks
	while  time.Duration // for which a peer speaks as it did when it was last heard
	of     [timed.MaxNodes + 1]spoken
}

// spoken is the evidence of a peer's versions in its packets.
type spoken struct {
	boot   timed.BootID // their incarnation
	newest uint8        // that it speaks
	heard  timed.Instant
	tries  uint8 // packets to the peer while it was not heard
}

// note takes the header of an authentic packet, and whether its incarnation is accepted.
// Another incarnation may be of another build. One that is not accepted counts only if no
// other is heard: it may be dead, and its packet late.
func (v *versions) note(received timed.Instant, h *datagram.Header, accepted bool) {
	x := &v.of[h.Source]
	if x.boot != h.Boot {
		if !accepted && x.boot != 0 && received.Sub(x.heard) <= v.while {
			return
		}
		*x = spoken{boot: h.Boot}
	}
	x.newest, x.heard, x.tries = max(x.newest, wire.NewestOf(h)), received, 0
}

// noteAlive takes evidence from others that an incarnation ran at since, so that it still
// speaks as its packets did.
func (v *versions) noteAlive(since timed.Instant, i timed.Incarnation) {
	if x := &v.of[i.Node]; x.boot == i.Boot {
		x.heard = timed.Later(x.heard, since)
	}
}

// countsOnVouching reports whether an incarnation learns from its leader that other
// members are alive.
func (v *versions) countsOnVouching(i timed.Incarnation) bool {
	x := &v.of[i.Node]
	return x.boot == i.Boot && min(x.newest, v.newest) >= wire.WithAnswered
}

// to returns the version of a packet to a peer. One that was not heard for a while may
// have been replaced by any build. It gets the version that it spoke and another one in turn,
// so that a build that speaks either learns of this node.
func (v *versions) to(now timed.Instant, id timed.NodeID) uint8 {
	x, version := &v.of[id], v.newest
	if x.boot != 0 {
		if version = min(version, x.newest); now.Sub(x.heard) <= v.while {
			return version
		}
	}
	x.tries++
	switch {
	case x.tries%2 == 1:
		return version
	case version == wire.Oldest:
		return v.newest
	}
	return wire.Oldest
}
