package broadcast

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// weightOf returns the largest size of the messages, decisions and requests of a
// packet.
func weightOf(p *Packet) (weight int) {
	for i := range p.Runs {
		weight += runWeight + len(p.Runs[i].Payload) + lengthWeight*p.Runs[i].Count
	}
	for i := range p.Decisions {
		weight += decisionWeight + rangeWeight*len(p.Decisions[i].Ranges)
	}
	return weight + wantWeight*len(p.Wants)
}

// In a large group in which all members send and many packets are lost, no packet grows
// larger than in the smallest group, and all messages of all members are delivered.
func TestPacketsStaySmallInLargeGroups(t *testing.T) {
	const members, each = 60, 3
	g := newTrio(members, Config{})
	largest, ranges, turns, lossy := 0, 0, 0, true
	g.drop = func(from, to int, p *Packet) bool {
		largest = max(largest, weightOf(p))
		for i := range p.Decisions {
			ranges = max(ranges, len(p.Decisions[i].Ranges))
		}
		return lossy && len(p.Runs) > 0 && (from+to+turns)%5 == 0
	}
	for turns = range each {
		for i := range members {
			for _, order := range []Order{Unordered, TotalOrder} {
				_, err := g.cast(i, make([]byte, 900), Options{Order: order, Atomicity: StrictAtomicity})
				require.NoError(t, err)
			}
		}
		g.turn()
	}
	lossy = false
	for range 40 {
		if slices.Min(g.count) == 2*members*each {
			break
		}
		g.run(20 * time.Millisecond)
	}
	require.Equal(t, slices.Repeat([]int{2 * members * each}, members), g.count)
	require.LessOrEqual(t, largest, DefaultPacketBytes+smallDecision+runWeight)
	require.Equal(t, (DefaultPacketBytes-decisionWeight)/rangeWeight, ranges, "decisions are as large as packets")
}

// A member that lacks many messages of many senders when its view ends asks one other
// member for all of them, in packets of the usual size.
func TestRequestsStaySmallInLargeGroups(t *testing.T) {
	const poor, each = 7, 20
	g := newTrio(60, Config{})
	largest, requests, lossy := 0, 0, true
	g.drop = func(_, to int, p *Packet) bool {
		largest = max(largest, weightOf(p))
		requests = max(requests, len(p.Wants))
		return lossy && to == poor && slices.ContainsFunc(p.Runs, func(r Run) bool { return r.First%2 == 1 })
	}
	for range each {
		for i := range g.nodes {
			for _, order := range []Order{Unordered, TotalOrder} {
				_, err := g.cast(i, make([]byte, 900), Options{Order: order, Atomicity: StrictAtomicity})
				require.NoError(t, err)
			}
		}
		g.turn()
	}
	v := viewOf(2, members(60)...)
	for i, s := range g.nodes {
		s.Freeze(g.now, v, i == 0)
	}
	g.run(50 * time.Millisecond)
	require.False(t, g.nodes[0].Ready(v.ID))
	lossy = false
	for i := 0; i < 200 && !g.nodes[0].Ready(v.ID); i++ {
		g.run(5 * time.Millisecond)
	}
	require.True(t, g.nodes[0].Ready(v.ID))
	require.LessOrEqual(t, largest, DefaultPacketBytes+smallDecision+runWeight)
	require.Greater(t, requests, maxWants/2, "the requests cover many messages")
}
