package broadcast

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// crowd is how many members the group of these tests has.
const crowd = 80

// newCrowd returns a group in small packets that has met many other nodes. Each member lacks
// Unordered messages of many others.
func newCrowd(t testing.TB) *trio {
	g := newTrio(crowd, Config{PacketBytes: MinPacketBytes})
	g.drop = func(from, to int, _ *Packet) bool { return (from+to)%3 != 0 }
	for i := range g.nodes {
		for _, o := range []Order{Unordered, TotalOrder} {
			_, err := g.cast(i, []byte("x"), Options{o, WeakAtomicity})
			require.NoError(t, err)
		}
		for id := timed.NodeID(crowd + 1); id < 2*crowd; id++ {
			for c := range classes {
				g.nodes[i].marks[c].set(Mark{id, 1, 1})
			}
		}
	}
	g.turn()
	g.drop = nil
	return g
}

// paced reports whether no more bytes of a kind come from or go to the leader of a proposal in
// little more than a one-way timeout than a flush may send, although there are more; and whether
// the flush ends.
func paced(t testing.TB, weight func(*Packet) int) bool {
	g, v := newCrowd(t), viewOf(2, members(crowd)...)
	n, most, all := 0, 0, 0
	g.drop = func(_, _ int, p *Packet) bool {
		n += weight(p)
		return false
	}
	for i, s := range g.nodes {
		s.Freeze(g.now, v, i == 0)
	}
	tick := g.nodes[0].cfg.Timing.OneWayTimeout / 7
	var last [7]int // in the ticks of a one-way timeout
	for k := 0; !g.nodes[0].Ready(v.ID); k++ {
		if k == 1000 {
			return false
		}
		g.turn()
		last[k%len(last)], all, n = n, all+n, 0
		sum := 0
		for _, l := range last {
			sum += l
		}
		most, g.now = max(most, sum), g.now.Add(tick)
	}
	require.Greater(t, all, flushBytes*3/2)
	return most <= flushBytes*5/4
}

func ofReports(p *Packet) int {
	if p.Report == nil {
		return 0
	}
	return p.Report.weight()
}

func ofPlans(p *Packet) int {
	if p.Plan == nil {
		return 0
	}
	return p.Plan.weight()
}

func TestTheReportsOfALargeGroupArePaced(t *testing.T) { require.True(t, paced(t, ofReports)) }
func TestThePlanOfALargeGroupIsPaced(t *testing.T)     { require.True(t, paced(t, ofPlans)) }

// termsInTurn reports whether the terms of a large group's view go to no more members at a time
// than their packets may, to all in turn, and no longer to those that have shown the view.
func termsInTurn() bool {
	n := 64
	g := newTrio(n, Config{PacketBytes: MinPacketBytes})
	s := g.nodes[0]
	s.committed = cutCommit(&Commit{Proposal: g.view.ID, Ordered: make([]Mark, 20*n)}, MinPacketBytes)
	pieces, weight := len(s.committed), 0
	for _, c := range s.committed {
		weight += c.weight()
	}
	got := map[timed.NodeID]int{}
	ask := func() bool {
		_, before, to := s.Terms(g.view.ID)
		for id := range to.All() {
			got[id]++
		}
		return len(before) == pieces && to.Len()*weight <= termBytes && !to.Empty()
	}
	turns := (n-1)*weight/termBytes + 2
	for range turns {
		if !ask() {
			return false
		}
	}
	if len(got) != n-1 {
		return false
	}
	for i := 2; i < n; i++ { // all but one
		g.nodes[0].HandlePacket(g.now, incarnation(i), &Packet{Header: Header{View: g.view.ID}}, nil)
	}
	clear(got)
	return ask() && len(got) == 1 && got[2] == 1
}

func TestTermsGoToSomeMembersAtATime(t *testing.T) { require.True(t, termsInTurn()) }

func TestSmallGroupsReportAtOnce(t *testing.T) {
	due := func(n, i int) time.Duration {
		g := newTrio(n, Config{})
		g.nodes[i].Freeze(g.now, viewOf(2, members(n)...), false)
		return g.nodes[i].freeze.due.Sub(g.now)
	}
	require.Zero(t, due(40, 39))
	require.Zero(t, due(3, 1))
}
