package stack

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// mixedVersions has a node of an older build in a group of three. It hears nothing but the
// old version, in which nothing is quiet, and the others speak the new one.
func mixedVersions(t testing.TB) {
	c := newCluster(3, leader.Stable)
	old := c.stacks[1]
	old.versions.newest = wire.Oldest
	elder := old.Self().Node
	quiet := 0
	for at := range 2000 {
		var heard []wire.Packet
		for i := range c.sent {
			p := &c.sent[i]
			h := &p.Header
			ofElder := h.Source == elder || h.Destination == elder
			if at > 1000 {
				require.Equal(t, ofElder, h.Version == wire.Oldest, "%d to %d", h.Source, h.Destination)
			}
			if h.Version < wire.WithQuiet {
				require.False(t, h.Quiet || h.Patient, "the old version says it otherwise")
			}
			if h.Quiet {
				quiet++
			}
			if h.Destination != elder || h.Version == wire.Oldest {
				heard = append(heard, *p)
			}
		}
		c.sent = heard
		c.step(nil)
	}
	require.NotNil(t, c.leader())
	require.Equal(t, 2, old.Datagram().Alive(c.now).Len())
	require.NotZero(t, quiet)
}

func TestAGroupOfTwoVersions(t *testing.T) { mixedVersions(t) }

// bothVersionsGreet has a node speak to a peer that says nothing.
func bothVersionsGreet(t testing.TB) {
	c := newCluster(2, leader.Stable)
	seen := map[uint8]int{}
	for range 400 {
		for i := range c.sent {
			if c.sent[i].Header.Source == 1 {
				seen[c.sent[i].Header.Version]++
			}
		}
		c.step(c.stacks[1])
	}
	require.Len(t, seen, 2)
	require.InDelta(t, seen[wire.Version], seen[wire.Oldest], 1)
}

func TestASilentPeerIsGreetedInBothVersions(t *testing.T) { bothVersionsGreet(t) }

// otherBuilds has a peer come back with other builds.
func otherBuilds(t testing.TB) {
	v, now := versions{newest: 4, while: time.Second}, timed.Instant(time.Hour)
	hears := func(boot timed.BootID, version uint8, counter uint64, accepted bool) {
		v.note(now, &datagram.Header{Source: 7, Boot: boot, Version: version, Counter: counter}, accepted)
	}
	says := func(want uint8, why string) {
		t.Helper()
		require.Equal(t, want, v.to(now, 7), why)
	}
	hears(1, 4, 9, true)
	says(4, "the first build")
	hears(2, 3, 9, true)
	says(3, "it came back with an older build")
	hears(1, 4, 10, false)
	says(3, "a late packet of the former incarnation")
	hears(3, 3, wire.FirstCounter(4)+1, true)
	says(4, "it only greets in the old version")
	hears(3, 3, 9, true)
	says(4, "the same process")
	hears(4, 4, wire.FirstCounter(9), true)
	says(4, "this node speaks no newer one")
	now = now.Add(v.while + 1)
	says(4, "it is silent")
	says(3, "it is silent: another build may be there")
	hears(5, 3, 9, false)
	says(3, "no other incarnation is heard")
	now = now.Add(v.while + 1)
	says(3, "it is silent")
	says(4, "it is silent: another build may be there")
}

func TestAPeerComesBackWithAnotherBuild(t *testing.T) { otherBuilds(t) }

// Whether a peer counts on its leader's word is known of the incarnation whose packets said so.
func wordOfOneBuild(t testing.TB) {
	v := versions{newest: wire.Version, while: time.Second}
	v.note(5, &datagram.Header{Version: wire.Version, Source: 2, Boot: 7}, true)
	for boot, counts := range map[timed.BootID]bool{0: false, 6: false, 7: true, 8: false} {
		require.Equal(t, counts, v.countsOnVouching(timed.Incarnation{Node: 2, Boot: boot}), "incarnation %d", boot)
	}
}

// What others say of one incarnation is no evidence of another: that one may have ended, and
// another build may be in its place.
func TestTheWordForOneIncarnationIsNotForAnother(t *testing.T) {
	v, now := versions{newest: 4, while: time.Second}, timed.Instant(time.Hour)
	v.note(now, &datagram.Header{Source: 7, Boot: 1, Version: 4}, true)
	now = now.Add(v.while + 1)
	v.noteAlive(now, timed.Incarnation{Node: 7, Boot: 2})
	require.Equal(t, uint8(4), v.to(now, 7))
	require.Equal(t, uint8(3), v.to(now, 7), "it is silent, so it is greeted in both versions")
	v.noteAlive(now, timed.Incarnation{Node: 7, Boot: 1})
	for range 3 {
		require.Equal(t, uint8(4), v.to(now, 7))
	}
}

func TestTheBuildOfAnIncarnationIsItsOwn(t *testing.T) { wordOfOneBuild(t) }

// Packets of an incarnation that is not accepted, while another is heard, do not say in which
// version that one is spoken to.
func challengerOfAnotherBuild(t testing.TB) {
	c, lead, other := follow()
	p := c.packetOf(t, other, lead, 0)
	p.Header.Boot, p.Header.Version, p.Frames = 99, wire.Oldest, 0
	p.Header.Quiet, p.Header.Patient = false, false
	lead.HandlePacket(c.now, c.now, &p, nil)
	kind, _ := lead.LastPacket()
	require.Equal(t, datagram.Challenged, kind)
	require.Equal(t, uint8(wire.Version), lead.versions.to(c.now, other.Self().Node))
}

func TestAChallengerOfAnotherBuild(t *testing.T) { challengerOfAnotherBuild(t) }
