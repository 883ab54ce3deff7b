package stack

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// links counts the packets of a wired group, and loses some.
type links struct {
	*wired
	count   map[[2]timed.NodeID]int
	version map[uint8]int
	lose    func(from, to timed.NodeID) bool
}

// membersAtRest returns a group of members, led by node 1, that has been at rest for a while.
func membersAtRest(t testing.TB, w *wired) *links {
	l := &links{wired: w, lose: func(from, to timed.NodeID) bool { return false }}
	l.run(2 * time.Second)
	require.True(t, w.nodes[0].Leads(w.now))
	require.Equal(t, len(w.nodes), w.nodes[0].Election().Support().Len())
	return l
}

// run lets time pass, and counts anew.
func (l *links) run(d time.Duration) {
	l.count, l.version = map[[2]timed.NodeID]int{}, map[uint8]int{}
	for end := l.now.Add(d); l.now < end; l.now = l.now.Add(200 * time.Microsecond) {
		l.step()
	}
}

func (l *links) step() {
	for i := 0; i < len(l.flight); i++ {
		h, _, err := wire.ParseHeader(l.flight[i])
		if err != nil {
			panic(err)
		}
		l.count[[2]timed.NodeID{h.Source, h.Destination}]++
		l.version[h.Version]++
		if l.lose(h.Source, h.Destination) {
			l.flight, l.to = slices.Delete(l.flight, i, i+1), slices.Delete(l.to, i, i+1)
			i--
		}
	}
	l.turn()
}

// runUntilSent lets time pass until a packet from one node to another has just left.
func (l *links) runUntilSent(t testing.TB, from, to timed.NodeID) {
	l.count = map[[2]timed.NodeID]int{}
	for range 5000 {
		if l.count[[2]timed.NodeID{from, to}] > 0 {
			return
		}
		l.step()
		l.now = l.now.Add(200 * time.Microsecond)
	}
	require.Fail(t, "no packet", "from node %d to node %d", from, to)
}

func (l *links) sent(from, to timed.NodeID) int { return l.count[[2]timed.NodeID{from, to}] }

func (l *links) counts(node, on timed.NodeID) bool {
	return l.nodes[node-1].Datagram().Alive(l.now).Has(on)
}

func TestMembersHearOfEachOtherThroughTheLeader(t *testing.T) {
	l := membersAtRest(t, newWiredOf(8, Config{}))
	const periods = 64
	l.run(periods * timed.LAN().KeepalivePeriod)
	for id := timed.NodeID(2); id <= 8; id++ {
		require.InDelta(t, periods, l.sent(id, 1), 6, "votes")
		for to := timed.NodeID(2); to <= 8; to++ {
			if to != id {
				require.InDelta(t, periods/8, l.sent(id, to), 2, "from node %d to node %d", id, to)
				require.True(t, l.counts(id, to))
			}
		}
		require.True(t, l.nodes[id-1].Membership().UpToDate(l.now))
	}
}

// A crashed member is noticed as soon as without the leader's word.
func noticesCrash(t testing.TB) {
	l := membersAtRest(t, newWiredOf(4, Config{}))
	l.lose = func(from, to timed.NodeID) bool { return from == 4 || to == 4 }
	l.run(timed.LAN().Expires + 2*time.Millisecond)
	require.False(t, l.counts(3, 4))
	require.True(t, l.counts(3, 2))
}

func TestACrashedMemberIsNoticed(t *testing.T) { noticesCrash(t) }

// The word for the members of another view says nothing about those of this one.
func anotherView(t testing.TB) {
	tm := timed.LAN()
	for _, same := range []bool{true, false} {
		l := membersAtRest(t, newWiredOf(4, Config{}))
		l.runUntilSent(t, 4, 3)
		l.run(time.Millisecond)
		l.lose = func(from, to timed.NodeID) bool { return from == 4 || to == 4 }
		l.run(tm.Expires - 4*time.Millisecond)
		s := l.nodes[2]
		p := &wire.Packet{Part: membership.Part{Kind: membership.Renew, ID: s.Membership().View().ID, Until: l.now.Add(time.Second), Answered: l.now}}
		p.Header.Source, p.Header.Stamp = 1, l.now
		if !same {
			p.Part.ID.Sequence++
		}
		s.vouchFor(l.now, l.now, p, datagram.Delay{Fast: true})
		l.run(6 * time.Millisecond)
		require.Equal(t, same, l.counts(3, 4))
	}
}

func TestTheWordIsForOneView(t *testing.T) { anotherView(t) }

// A member whose state may be news sends it directly, and once more.
func newsGoDirectly(t testing.TB) {
	l := membersAtRest(t, newWiredOf(4, Config{}))
	l.runUntilSent(t, 3, 4)
	l.run(3 * timed.LAN().KeepalivePeriod)
	require.Zero(t, l.sent(3, 4), "at rest it sends nothing yet")
	r := &l.nodes[2].rest
	r.told, r.known = timed.Set{}, timed.Set{}
	l.run(3 * timed.LAN().KeepalivePeriod)
	require.GreaterOrEqual(t, l.sent(3, 4), 2)
}

func TestNewsGoDirectly(t *testing.T) { newsGoDirectly(t) }

// Nodes of a build that does not know the leader's word hear and are heard as before.
func oldBuildHears(t testing.TB) {
	w := newWiredOf(4, Config{})
	w.nodes[3].versions.newest = wire.WithAnswered - 1
	l := membersAtRest(t, w)
	l.run(32 * timed.LAN().KeepalivePeriod)
	for id := timed.NodeID(2); id <= 3; id++ {
		require.InDelta(t, 32, l.sent(id, 4), 4)
		require.InDelta(t, 32, l.sent(4, id), 4)
		require.True(t, l.counts(4, id))
		require.True(t, l.counts(id, 4))
	}
	require.InDelta(t, 4, l.sent(2, 3), 2, "the others know it")
}

func TestAnOlderBuildHearsAllMembers(t *testing.T) { oldBuildHears(t) }

// If an answer is missing, all members send to each other: nobody may count on the word.
func missingAnswer(t testing.TB) {
	l := membersAtRest(t, newWiredOf(5, Config{}))
	l.runUntilSent(t, 3, 4)
	l.lose = func(from, to timed.NodeID) bool { return from == 5 && to == 1 }
	l.run(3 * timed.LAN().KeepalivePeriod)
	require.GreaterOrEqual(t, l.sent(3, 4), 2)
}

func TestAMissingAnswerEndsTheRest(t *testing.T) { missingAnswer(t) }

// Peers that are heard through others alone get packets in the version that they speak.
func oneVersion(t testing.TB) {
	for _, c := range []leader.Collation{{}, {Above: 3, Fanout: 2}} {
		l := membersAtRest(t, newWiredOf(8, Config{Collation: c}))
		l.run(time.Second)
		require.Len(t, l.version, 1)
		require.Contains(t, l.version, uint8(wire.Version))
	}
}

func TestPeersHeardThroughOthersKeepTheirVersion(t *testing.T) { oneVersion(t) }

// A link that fails in one direction only makes two members dead to each other, although
// their leader hears both.
func TestAOneWayLinkIsNoticed(t *testing.T) {
	tm := timed.LAN()
	for _, cut := range [][2]timed.NodeID{{3, 4}, {4, 3}} {
		l := membersAtRest(t, newWiredOf(4, Config{}))
		l.lose = func(from, to timed.NodeID) bool { return from == cut[0] && to == cut[1] }
		l.run(2*tm.IndirectPeriod() + 4*tm.Expires)
		require.False(t, l.counts(3, 4))
		require.False(t, l.counts(4, 3))
		require.True(t, l.nodes[2].Membership().UpToDate(l.now), "the view is the leader's")
		l.lose = func(from, to timed.NodeID) bool { return false }
		l.run(4 * tm.KeepalivePeriod)
		require.True(t, l.counts(3, 4))
		require.True(t, l.counts(4, 3))
	}
}

// A leader's word about answers to a request that it has not sent yet is none.
func noWordFromTheFuture(t testing.TB) {
	l := membersAtRest(t, newWired(3, nil))
	s, view := l.nodes[1], l.nodes[1].Membership().View()
	p := &wire.Packet{Part: membership.Part{Kind: membership.Renew, ID: view.ID, Answered: l.now + 1}}
	p.Header.Source, p.Header.Stamp = 1, l.now
	before, _ := s.Datagram().LastFast(l.now, 3)
	s.vouchFor(l.now, l.now, p, datagram.Delay{Bound: time.Microsecond, Fast: true})
	after, _ := s.Datagram().LastFast(l.now, 3)
	require.Equal(t, before, after)
	p.Part.Answered = l.now
	s.vouchFor(l.now, l.now, p, datagram.Delay{Bound: time.Microsecond, Fast: true})
	after, _ = s.Datagram().LastFast(l.now, 3)
	require.Less(t, after, before)
}

func TestAWordFromTheFutureIsNone(t *testing.T) { noWordFromTheFuture(t) }

// A vouched member ran no earlier than the request that it answered. On this node's clock,
// that is as long ago as the delay and the time between the two requests, at the worst rate, when
// the packet comes, however long it waits for a turn.
func TestTheWordIsAsOldAsItMayBe(t *testing.T) {
	const bound, between, waiting, step = 7 * time.Millisecond, 9 * time.Millisecond, 5 * time.Millisecond, 100 * time.Nanosecond
	rho := timed.LAN().MaxDrift
	ends := func(bound, between, waiting time.Duration) timed.Instant {
		l := membersAtRest(t, newWiredOf(4, Config{}))
		l.runUntilSent(t, 4, 3)
		l.lose = func(from, to timed.NodeID) bool { return from == 4 || to == 4 }
		l.run(timed.LAN().Expires - 4*time.Millisecond)
		s := l.nodes[2]
		p := &wire.Packet{Part: membership.Part{Kind: membership.Renew, ID: s.Membership().View().ID,
			Until: l.now.Add(time.Second), Answered: l.now.Add(-between)}}
		p.Header.Source, p.Header.Stamp = 1, l.now
		s.vouchFor(l.now, l.now.Add(-waiting), p, datagram.Delay{Fast: true, Bound: bound})
		require.True(t, l.counts(3, 4))
		for l.counts(3, 4) {
			l.now = l.now.Add(step)
		}
		return l.now
	}
	at := ends(0, 0, 0)
	require.InDelta(t, rho.Upper(bound), at.Sub(ends(bound, 0, 0)), float64(step))
	require.InDelta(t, rho.Wait(between), at.Sub(ends(0, between, 0)), float64(step))
	require.InDelta(t, waiting, at.Sub(ends(0, 0, waiting)), float64(step))
}
