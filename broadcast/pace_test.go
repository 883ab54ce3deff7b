package broadcast

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// sixtyFour is a group of 64 in small packets. Each member lacks Unordered messages of some others.
func sixtyFour(t testing.TB) *trio {
	g := newTrio(64, Config{PacketBytes: MinPacketBytes})
	g.drop = func(from, to int, _ *Packet) bool { return (from+to)%3 == 0 }
	for i := range g.nodes {
		for _, o := range []Order{Unordered, TotalOrder} {
			_, err := g.cast(i, []byte("x"), Options{o, WeakAtomicity})
			require.NoError(t, err)
		}
	}
	g.turn()
	g.drop = nil
	return g
}

// paced reports whether no more packets of a kind come from or go to the leader of a proposal in a
// one-way timeout than a flush may send, while there are more; and whether the flush ends. The
// leader acts after the others.
func paced(t testing.TB, of func(*Packet) bool) bool {
	g, v := sixtyFour(t), viewOf(2, members(64)...)
	n, most, all := 0, 0, 0
	g.drop = func(_, _ int, p *Packet) bool {
		if of(p) {
			n++
		}
		return false
	}
	for i, s := range g.nodes {
		s.Freeze(g.now, v, i == 0)
	}
	tick := g.nodes[0].cfg.Timing.OneWayTimeout / 7
	var last [8]int // in the ticks of a one-way timeout
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
	require.Greater(t, all, 2*flushPackets)
	return most <= 2*flushPackets
}

func isReport(p *Packet) bool { return p.Report != nil }
func isPlan(p *Packet) bool   { return p.Plan != nil }

func TestTheReportsOfALargeGroupArePaced(t *testing.T) { require.True(t, paced(t, isReport)) }
func TestThePlanOfALargeGroupIsPaced(t *testing.T)     { require.True(t, paced(t, isPlan)) }

// termsInTurn reports whether the terms of a large group's view go to no more members at a time
// than their packets may, to all in turn, and no longer to those that have shown the view.
func termsInTurn() bool {
	n := 64
	g := newTrio(n, Config{PacketBytes: MinPacketBytes})
	s := g.nodes[0]
	s.committed = cutCommit(&Commit{Proposal: g.view.ID, Ordered: make([]Mark, 3*n)}, MinPacketBytes)
	pieces := len(s.committed)
	got := map[timed.NodeID]int{}
	ask := func() bool {
		_, before, to := s.Terms(g.view.ID)
		for id := range to.All() {
			got[id]++
		}
		return len(before) == pieces && to.Len()*pieces <= termPackets && !to.Empty()
	}
	turns := (n-1)*pieces/termPackets + 2
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
