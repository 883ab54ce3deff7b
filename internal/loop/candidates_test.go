package loop

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/join"
	"github.com/failaware/failaware/internal/life"
	"github.com/failaware/failaware/internal/seal"
)

// newJoining returns a loop with candidates, and the world around it.
func newJoining(t testing.TB, ring *seal.Ring, sources ...string) (*Loop, *outside) {
	var list []join.Source
	for _, text := range sources {
		s, err := join.Parse(text)
		require.NoError(t, err)
		list = append(list, s)
	}
	l, o := newOutside(ring)
	l.cfg.Join = join.New(join.Options{Local: at(7000), Remote: true}, list)
	return l, o
}

// A candidate is not configured: it gets greetings and, beside them, no more bytes than came from it.
func candidatesAreNoPeers(t testing.TB) {
	for name, r := range rings(t) {
		victim := at(99)
		l, o := newJoining(t, r, victim.String())
		o.run(l, 10*time.Second)
		greetings := o.bytes[victim]
		require.Positive(t, greetings, name)
		came := 0
		for counter := range uint64(10) {
			came += o.takes(t, l, sealerOf(r), victim, counter+1, nothing)
			o.run(l, time.Second)
		}
		require.LessOrEqual(t, o.bytes[victim], 3*greetings+came, name)
	}
}

func TestCandidatesAreNoPeers(t *testing.T) { candidatesAreNoPeers(t) }

// The destination of a greeting is the node that was learnt at the address, once there is
// one, and otherwise an id that nobody has. A node that has shown that it receives needs
// no greeting.
func greetingsHaveDestinations(t testing.TB) {
	r := routes{self: 1, limit: 9}
	require.Equal(t, r.unused(), r.destination(at(70)))
	r.learn(7, at(70), false, 1)
	require.EqualValues(t, 7, r.destination(at(70)))
	r.to[7].Proved = true
	require.Zero(t, r.destination(at(70)))
	require.NotZero(t, r.destination(at(71)))
}

func TestWhomAGreetingIsFor(t *testing.T) { greetingsHaveDestinations(t) }

// A node does not greet itself.
func TestANodeDoesNotGreetItself(t *testing.T) {
	l, o := newJoining(t, nil, at(7000).String(), at(7001).String())
	o.local = at(7000)
	o.run(l, 10*time.Second)
	require.Zero(t, o.bytes[at(7000)])
	require.NotZero(t, o.bytes[at(7001)])
}

// A packet to a multicast group makes its sender known, and nothing more of it counts.
func meetsOnly(t testing.TB) {
	for name, r := range rings(t) {
		l, o := newOutside(r)
		b := sealedPacket(t, l, sealerOf(r), 1, nothing)
		l.Meet(b, at(70))
		l.Meet(sealedPacket(t, l, sealerOf(r), 2, nothing), at(70))
		l.Meet([]byte("junk"), at(71))
		o.run(l, time.Second)
		require.True(t, l.driver.routes.known.Has(7), name)
		require.Equal(t, at(70), l.driver.routes.to[7].Addr)
		require.False(t, l.driver.routes.to[7].Proved, name)
		require.Positive(t, o.bytes[at(70)], name)
		require.LessOrEqual(t, o.bytes[at(70)], 2*len(b), "no more than came: "+name)
		require.Zero(t, o.bytes[at(71)])
	}
}

func TestPacketsToAGroupOnlyMakeKnown(t *testing.T) { meetsOnly(t) }

// greetingsWaitInBounds has packets to a group come while the loop stands, as with a full disk. A few
// wait for it, and it hears those that come when it goes on.
func greetingsWaitInBounds(t testing.TB) {
	l, o := newOutside(nil)
	for range 10 * meetRoom {
		l.Meet([]byte("junk"), at(71))
	}
	waiting := l.commands.Take()
	require.Equal(t, meetRoom, len(waiting))
	for _, command := range waiting {
		command.run(l.driver)
	}
	l.Meet(sealedPacket(t, l, nil, 1, nothing), at(70))
	o.run(l, time.Second)
	require.True(t, l.driver.routes.known.Has(7))
}

func TestGreetingsWaitInBounds(t *testing.T) { greetingsWaitInBounds(t) }

// Each incarnation greets the candidates, also those that the one before knew.
func candidatesOfEach(t testing.TB) {
	l, o := newJoining(t, nil, at(70).String())
	for range 3 {
		before := o.bytes[at(70)]
		o.run(l, time.Second)
		require.Greater(t, o.bytes[at(70)], before)
		l.driver.restart(life.Suspended, o.instant(), l.driver.clock.era)
	}
}

func TestEachIncarnationGreetsCandidates(t *testing.T) { candidatesOfEach(t) }
