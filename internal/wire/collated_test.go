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
func TestRepliesThatFitAreWithinTheSmallestPacket(t *testing.T) {
	var replies []Relayed
	for id := timed.NodeID(255); id > 0; id-- {
		v := Relayed{Voter: timed.Incarnation{Node: id, Boot: math.MaxUint64}}
		v.Reply = leader.Reply{Number: datagram.MaxStamp, Support: true}
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
	require.Less(t, packets, 20)
}
