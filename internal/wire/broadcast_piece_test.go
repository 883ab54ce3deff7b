package wire

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// largestView is of all nodes, with the largest numbers.
func largestView() *membership.View {
	v := &membership.View{ID: membership.ViewID{Sequence: broadcast.MaxSequence, Leader: 1, Boot: bootOf(1)}}
	for id := range timed.NodeID(timed.MaxNodes) {
		v.Members = append(v.Members, membership.Member{Incarnation: incarnationOf(id + 1)})
		v.Set.Add(id + 1)
	}
	return v
}

// In a group of the largest size, with every number as wide as possible, every
// report, plan and commit fits into the packets that all networks carry.
func TestPiecesFitIntoPackets(t *testing.T) {
	now, most := timed.Instant(time.Hour), uint64(broadcast.MaxSequence)
	s := broadcast.New(broadcast.Config{Self: incarnationOf(1), Timing: timed.LAN()})
	v := largestView()
	s.Freeze(now, v, true)
	for id := timed.NodeID(2); id != 0 && id <= timed.MaxNodes; id = v.Set.Next(id) {
		r := broadcast.Report{Piece: broadcast.Piece{Of: 1}, Proposal: v.ID, Stable: [2]uint64{most, most},
			Previous: membership.ViewID{Sequence: most - 1, Leader: id/16*16 + 1, Boot: bootOf(id)}, Have: most - uint64(id%2)}
		r.Previous.Boot = bootOf(r.Previous.Leader)
		for i := range v.Members {
			m := &v.Members[i]
			r.Unordered = append(r.Unordered, broadcast.Mark{Node: m.Node, Boot: m.Boot, Sequence: most - uint64(id%2)})
		}
		r.Acks, r.Ordered = r.Unordered, r.Unordered
		s.HandlePacket(now, incarnationOf(id), &broadcast.Packet{Report: &r}, nil)
	}

	var e Encoder
	largest := map[string]int{}
	size := func(kind string, c *broadcast.Packet) {
		p := basePacket()
		p.Frames, p.Broadcast = FrameBroadcast, c
		b, err := e.Append(nil, &p)
		require.NoError(t, err)
		var got Packet
		require.NoError(t, new(Decoder).Decode(b, &got))
		require.Equal(t, exported(c), exported(got.Broadcast))
		largest[kind] = max(largest[kind], len(b))
	}
	said := func(kind string) {
		for _, e := range s.HandleTimeout(now, clocksync.Reading{}, nil) {
			if e.Peer <= 2 && (e.Packet.Plan != nil || e.Packet.Report != nil) {
				size(kind, e.Packet)
			}
		}
	}
	said("plan")
	for id := range timed.NodeID(timed.MaxNodes) {
		s.HandlePacket(now, incarnationOf(id+1), &broadcast.Packet{Done: v.ID}, nil)
	}
	require.True(t, s.Ready(v.ID))
	s.Install(now, v, nil)
	with, before, _ := s.Terms(v.ID)
	require.Nil(t, with)
	for _, c := range before {
		p := s.Blank(clocksync.Reading{})
		p.Commit = c
		size("commit", p)
	}
	next := *v
	next.ID = membership.ViewID{Sequence: most, Leader: 2, Boot: bootOf(2)}
	s.Freeze(now, &next, false)
	for ; now < timed.Instant(2*time.Hour); now = now.Add(time.Minute) { // pieces come one after the other
		said("report")
	}
	for _, kind := range []string{"plan", "commit", "report"} {
		require.LessOrEqual(t, largest[kind], MaxPacket, kind)
		require.Greater(t, largest[kind], MaxPacket*3/4, "%s: packets are used", kind)
	}
}
