package wire

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// Replies that are all different still make packets within the smallest limit.
func repliesFit(t testing.TB) {
	var replies []Relayed
	for id := timed.NodeID(255); id > 0; id-- {
		v := Relayed{Voter: timed.Incarnation{Node: id, Boot: math.MaxUint64}}
		v.Reply = leader.Reply{Number: datagram.MaxStamp, Support: true}
		if id%3 > 0 {
			v.Reply.Stamp = leader.VoteStamp{Counter: math.MaxUint64, At: datagram.MaxStamp}
		}
		if id > 120 {
			v.Reply.LockedTo = timed.Incarnation{Node: id, Boot: math.MaxUint64}
			v.Reply.Prefers = id
			v.Report.Acknowledged = fromStrangers(id)
			v.Report.Installed = fromStrangers(id - 1)
			v.Report.Sequence = v.Report.Acknowledged.Sequence
		}
		replies = append(replies, v)
	}
	var back []Relayed
	var e Encoder
	packets := 0
	for rest := replies; len(rest) > 0; packets++ {
		n := FitReplies(rest)
		p := fullestPacket(1)
		p.Frames = FrameCollated
		p.Collated = &Collated{Leader: incarnationOf(2), Number: datagram.MaxStamp, Replies: rest[:n]}
		b, err := e.Append(nil, &p)
		require.NoError(t, err)
		var got Packet
		require.NoError(t, new(Decoder).Decode(b, &got))
		back, rest = append(back, got.Collated.Replies...), rest[n:]
	}
	require.Equal(t, replies, back)
	require.Less(t, packets, 25)
}

func TestRepliesThatFitAreWithinTheSmallestPacket(t *testing.T) { repliesFit(t) }

// treesAreChecked decodes trees behind a request: within the limits, and just outside.
func treesAreChecked(t testing.TB) {
	for _, c := range []struct {
		fanout int
		target uint64
		ok     bool
	}{{leader.MinFanout, 6, true}, {leader.MinFanout - 1, 6, false}, {leader.MaxFanout, 6, true}, {leader.MaxFanout + 1, 6, false},
		{2, 2, false}, {2, 7, false}, {2, 3, false}} { // one node, and node 0 besides two and one
		var got Packet
		err := new(Decoder).Decode(behind(t, requestPacket(), typeTree, message(t, c.fanout, c.target, 0, 0, 0)), &got)
		if c.ok {
			require.NoError(t, err)
			require.Equal(t, leader.Tree{Fanout: uint8(c.fanout), Target: timed.SetOf(1, 2)}, got.Request.Tree)
		} else {
			require.ErrorIs(t, err, ErrRange, "%+v", c)
		}
	}
}

func TestTreesOfNobodyAreRefused(t *testing.T) { treesAreChecked(t) }
