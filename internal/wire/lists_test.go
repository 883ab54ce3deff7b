package wire

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/timed"
)

// Each list of a broadcast frame that can be written at its limit can be read.
func listsAtTheirLimits(t testing.TB) {
	v := largestView()
	var marks []broadcast.Mark
	for i := range maxMarks {
		id := timed.NodeID(i/broadcast.MostIncarnations + 1)
		marks = append(marks, broadcast.Mark{Node: id, Boot: timed.BootID(i + 1), Sequence: 1})
	}
	var fills []broadcast.Fill
	for range 1700 {
		fills = append(fills, broadcast.Fill{Member: 1, Holder: 2, Sender: 3, Boot: 4, From: 1, To: 2})
	}
	for name, c := range map[string]*broadcast.Packet{
		"ordered":   {Report: &broadcast.Report{Piece: broadcast.Piece{Of: 1}, Proposal: v.ID, Ordered: marks}},
		"unordered": {Report: &broadcast.Report{Piece: broadcast.Piece{Of: 1}, Proposal: v.ID, Unordered: marks}},
		"commit":    {Commit: &broadcast.Commit{Piece: broadcast.Piece{Of: 1}, Proposal: v.ID, Ordered: marks}},
		"plan":      {Plan: &broadcast.Plan{Piece: broadcast.Piece{Of: 1}, Proposal: v.ID, Groups: []broadcast.Group{{Previous: v.ID, Source: 1, Fill: fills}}}},
	} {
		p := basePacket()
		p.Frames, p.Broadcast = FrameBroadcast, c
		e := Encoder{MaxPacket: 65_000}
		b, err := e.Append(nil, &p)
		require.NoError(t, err, name)
		var got Packet
		require.NoError(t, new(Decoder).Decode(b, &got), name)
		require.Equal(t, exported(c), exported(got.Broadcast), name)
	}
}

func TestListsAtTheirLimitsCanBeRead(t *testing.T) { listsAtTheirLimits(t) }
