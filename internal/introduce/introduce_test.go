package introduce

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

const (
	start  timed.Instant = 1e12
	period               = 25 * time.Millisecond
)

// run has the machine work for a time and returns its effects.
func run(m *Machine, from timed.Instant, d time.Duration) (out []Effect) {
	for now := timed.Later(from, m.Deadline()); now < from.Add(d); now = timed.Later(now+1, m.Deadline()) {
		out = m.HandleTimeout(now, out)
	}
	return out
}

func address(id timed.NodeID) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 7000+uint16(id))
}

func members(ids ...timed.NodeID) (list []wire.Member) {
	for _, id := range ids {
		list = append(list, wire.Member{Node: id, Addr: address(id)})
	}
	return list
}

// A peer that comes alive is told of all others at once, and again in case that was lost.
func tellsNewcomers(t testing.TB) {
	m := New(1, period, start)
	m.SetAlive(start, timed.SetOf(2, 3))
	m.SetAlive(start, timed.SetOf(2, 3, 4))
	require.Equal(t, start, m.Deadline())
	var told []timed.Set
	var when []time.Duration
	for now := start; now < start.Add(time.Second); now = timed.Later(now+1, m.Deadline()) {
		for _, e := range m.HandleTimeout(now, nil) {
			require.Equal(t, Introduce, e.Kind)
			if e.Peer == 4 {
				told, when = append(told, e.Members), append(when, now.Sub(start))
			}
		}
	}
	const first = tellEvery * period
	require.Equal(t, []time.Duration{0, first, 3 * first, 7 * first}, when, "less and less often")
	require.Len(t, told, 4)
	for _, members := range told {
		require.Equal(t, timed.SetOf(2, 3), members)
	}
	m.SetAlive(start.Add(time.Second), timed.SetOf(2))
	require.Empty(t, run(m, start.Add(time.Second), time.Second-1), "it was told")
	m.SetAlive(start.Add(time.Second), timed.Set{})
	later := start.Add(2 * time.Second)
	run(m, later, time.Millisecond) // gossip
	m.SetAlive(later.Add(time.Millisecond), timed.SetOf(3))
	require.Equal(t, []Effect{{Kind: Introduce, Peer: 3}}, run(m, later.Add(time.Millisecond), time.Millisecond), "a peer alone learns the labels of this node")
}

func TestNewcomersAreToldOfAllOthers(t *testing.T) { tellsNewcomers(t) }

// In the long run every peer is told of every other one, and the cost is constant.
func gossips(t testing.TB) {
	m := New(1, period, start)
	var alive timed.Set
	for id := range timed.NodeID(100) {
		alive.Add(id + 100)
	}
	m.SetAlive(start, alive)
	run(m, start, 10*time.Second)
	told := map[timed.NodeID]timed.Set{}
	const long = 2000 * talkEvery
	effects := run(m, start.Add(10*time.Second), long)
	require.Len(t, effects, 2000)
	for _, e := range effects {
		require.LessOrEqual(t, e.Members.Len(), wire.MaxMembers)
		told[e.Peer] = told[e.Peer].Union(e.Members)
	}
	for id := range alive.All() {
		require.Equal(t, alive.Without(id), told[id])
	}
}

func TestEverybodyIsToldInTheLongRun(t *testing.T) { gossips(t) }

// A member that others introduce is greeted less and less often, however often they do.
func greets(t testing.TB) {
	m := New(1, period, start)
	m.SetAlive(start, timed.SetOf(2))
	m.HandleMembers(start, members(1, 2, 3, 3))
	all := greetings(run(m, start, time.Second))
	require.Equal(t, map[netip.AddrPort]int{address(3): 4}, all, "after 0, 0.1, 0.3 and 0.7 s; not this node, and nobody who is alive")
	count := func(from timed.Instant, d time.Duration) int { return greetings(run(m, from, d))[address(3)] }
	later := start.Add(time.Second)
	m.HandleMembers(later, members(3))
	require.Equal(t, 3, count(later, 10*time.Second), "after 1.5, 3.1 and 6.3 s")
	later = later.Add(10 * time.Second)
	m.HandleMembers(later, members(3))
	require.Equal(t, 2, count(later, 20*time.Second), "after 12.7 and 25.5 s")
	later = later.Add(20 * time.Second)
	require.Zero(t, count(later, time.Minute), "it is forgotten")
	later = later.Add(time.Minute)
	m.HandleMembers(later, members(3))
	require.NotZero(t, count(later, time.Millisecond))
	m.SetAlive(later.Add(time.Millisecond), timed.SetOf(2, 3))
	require.Zero(t, count(later.Add(time.Millisecond), time.Second))
	later = later.Add(time.Second)
	m.SetAlive(later, timed.SetOf(2)) // it has moved
	m.HandleMembers(later, members(3))
	require.Equal(t, 4, count(later, time.Second))
}

func TestMembersAreGreetedUntilTheyAreAlive(t *testing.T) { greets(t) }

// Members that are introduced at different times are greeted at intervals of their own.
func atIntervals(t testing.TB) {
	m := New(1, period, start)
	const apart = 7 * time.Millisecond
	for i := range timed.NodeID(10) {
		now := start.Add(time.Duration(i) * apart)
		m.HandleMembers(now, members(i+2))
		require.Len(t, greetings(run(m, now, apart)), 1, "the others are not due")
	}
	require.Len(t, run(m, start.Add(10*apart), time.Minute), 10*8)
}

func TestGreetingsAreAtIntervals(t *testing.T) { atIntervals(t) }

// However many members are introduced, few are under way.
func bounded(t testing.TB) {
	m := New(1, period, start)
	for id := timed.NodeID(2); id < 200; id++ {
		m.HandleMembers(start, members(id))
	}
	greeted := map[timed.NodeID]bool{}
	for _, e := range run(m, start, time.Second) {
		greeted[e.Peer] = true
	}
	require.Len(t, greeted, maxGreeted)
}

func TestGreetingsAreBounded(t *testing.T) { bounded(t) }

// A member that others have heard at several addresses is greeted at each: only one of them
// may be of use here.
func atEach(t testing.TB) {
	m := New(1, period, start)
	elsewhere := wire.Member{Node: 2, Addr: address(9)}
	m.HandleMembers(start, append(members(2, 2), elsewhere, elsewhere))
	require.Equal(t, map[netip.AddrPort]int{address(2): 1, address(9): 1}, greetings(run(m, start, period)))
}

func TestAMemberIsGreetedAtEachAddress(t *testing.T) { atEach(t) }

// Two members may have been heard at one address, where only one is now.
func eachAtOne(t testing.TB) {
	m := New(1, period, start)
	m.HandleMembers(start, []wire.Member{{Node: 2, Addr: address(2)}, {Node: 3, Addr: address(2)}})
	var greeted timed.Set
	for _, e := range run(m, start, period) {
		greeted.Add(e.Peer)
	}
	require.Equal(t, timed.SetOf(2, 3), greeted)
}

func TestEachMemberAtAnAddressIsGreeted(t *testing.T) { eachAtOne(t) }

// In a group of three, each of the two peers is told of the other, long after they have come.
func gossipsOfTheOther(t testing.TB) {
	m := New(1, period, start)
	m.SetAlive(start, timed.SetOf(2, 3))
	run(m, start, time.Minute)
	var told timed.Set
	for _, e := range run(m, start.Add(time.Minute), 3*talkEvery) {
		require.Equal(t, Effect{Kind: Introduce, Peer: e.Peer, Members: timed.SetOf(5 - e.Peer)}, e)
		told.Add(e.Peer)
	}
	require.Equal(t, timed.SetOf(2, 3), told)
}

func TestTwoPeersAreToldOfEachOther(t *testing.T) { gossipsOfTheOther(t) }
