package replica

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

var (
	someView = membership.ViewID{Sequence: 9, Leader: 3, Boot: 77}
	someName = Name{Label: Label{1, 2, 3}, View: someView, Position: 12}
	messages = []message{
		{kind: kindOp, body: []byte("op")},
		{kind: kindBeside, body: []byte("beside")},
		{kind: kindReport, report: report{view: someView, standing: Pending, remembers: true, promised: 21, awaits: Label{4},
			lineage: Lineage{Label: Label{7}, Rank: 5, End: someName, Line: []Ancestor{{Label{8}, someView, 3}, {Label: Label{9}}}}, load: 6, mates: timed.SetOf(1, 200), base: someName,
			held: []copyOf{{someName, Digest{9}, 10}}, parts: []copyOf{{Name{Label: Label{11}}, Digest{12}, 13}, {someName, Digest{}, 0}}}},
		{kind: kindReady, view: someView, digest: Digest{1}},
		{kind: kindAsk, view: someView},
		{kind: kindBootstrap, view: someView, generation: 7},
		{kind: kindRefuse, view: someView, name: someName},
		{kind: kindChunk, name: someName, digest: Digest{2}, offset: 3, size: 9, body: []byte("piece")},
		{kind: kindGot, name: someName, digest: Digest{2}, offset: 3},
		{kind: kindHash, at: Point{someView, 4}, sum: 5},
		{kind: kindStored, at: Point{someView, 4}},
		{kind: kindDisks, view: someView, at: Point{someView, 4}, confirmed: []confirmed{{200, Point{someView, 5}, 0}, {3, Point{}, 0}}},
		{kind: kindSettings, view: someView, own: settings{true, 64}},
		{kind: kindGeneration, view: someView, confirmed: []confirmed{{200, Point{}, 7}, {3, Point{}, 0}}},
		{kind: kindPromised, view: someView},
	}
)

func TestMessagesComeBackAsTheyWere(t *testing.T) {
	for i := range messages {
		var got message
		b := encode(&messages[i])
		switch messages[i].kind {
		case kindOp:
			b = AppendOp(nil, messages[i].body)
		case kindBeside:
			b = AppendBeside(nil, messages[i].body)
		}
		require.NoError(t, decode(b, &got))
		require.Equal(t, messages[i], got)
		if messages[i].kind == kindChunk {
			require.Len(t, b, ChunkOverhead+len(messages[i].body))
		}
		for n := range b {
			if messages[i].kind == kindBootstrap && n == len(b)-8 {
				continue // as earlier builds write it
			}
			if messages[i].kind != kindOp && messages[i].kind != kindBeside && messages[i].kind != kindChunk {
				require.Error(t, decode(b[:n], &got), "%d bytes of kind %d", n, messages[i].kind)
			}
		}
	}
	for _, offset := range []uint64{0, 3} {
		var got message
		require.NoError(t, decode(encode(&message{kind: kindGot, offset: offset, rewind: true}), &got))
		require.True(t, got.rewind)
	}
	require.Error(t, decode(nil, new(message)))
	require.Error(t, decode(encode(&message{kind: kindChunk, offset: 5, size: 4}), new(message)))
	require.Error(t, decode(append(encode(&messages[3]), 0), new(message)))
}

// The label of the awaited state comes first, before that of the own one.
func TestAReportNamesTheAwaitedStateFirst(t *testing.T) {
	for standing, want := range map[Standing][]byte{
		Pending: append(bytes.Repeat([]byte{4}, 16), bytes.Repeat([]byte{7}, 16)...),
		Holder:  append(bytes.Repeat([]byte{7}, 16), make([]byte, 16)...),
	} {
		r := report{view: someView, standing: standing, lineage: Lineage{Label: Label(bytes.Repeat([]byte{7}, 16))}}
		if standing == Pending {
			r.awaits = Label(bytes.Repeat([]byte{4}, 16))
		}
		b := encode(&message{kind: kindReport, report: r})
		require.Equal(t, want, b[1+viewBytes+1+1+8:][:32])
		var got message
		require.NoError(t, decode(b, &got))
		require.Equal(t, r, got.report)
	}
}

// A decoded message encodes to the same bytes.
func FuzzDecode(f *testing.F) {
	for i := range messages {
		f.Add(encode(&messages[i]))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var m, again message
		if decode(b, &m) != nil || m.kind == kindOp || m.kind == kindBeside {
			return
		}
		require.NoError(t, decode(encode(&m), &again))
		require.Equal(t, m, again)
	})
}
