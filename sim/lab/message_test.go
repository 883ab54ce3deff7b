package lab

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

func anyMessage(t *rapid.T) Message {
	id := rapid.Custom(func(t *rapid.T) timed.NodeID { return timed.NodeID(rapid.Byte().Draw(t, "id")) })
	m := Message{
		Kind: Kind(rapid.IntRange(1, int(kinds)-1).Draw(t, "kind")), Candidate: id.Draw(t, "candidate"), Initiator: id.Draw(t, "initiator"),
		Hops: rapid.Byte().Draw(t, "hops"), Yes: rapid.Bool().Draw(t, "yes"), Group: Group{id.Draw(t, "leader"), rapid.Uint64().Draw(t, "number")},
		Start: timed.Instant(rapid.Int64().Draw(t, "start")), Span: time.Duration(rapid.Int64().Draw(t, "span")),
	}
	for _, i := range rapid.SliceOfN(rapid.ByteMin(1), 0, 8).Draw(t, "members") {
		m.Members.Add(timed.NodeID(i))
	}
	if m.Kind == Keepalive {
		m.Header = datagram.Header{Version: wire.Version, Group: 1, Source: 1, Destination: 2, Boot: 3, Counter: 4, Stamp: 5,
			Echo: datagram.Echo{Heard: datagram.NotHeard}}
	}
	return m
}

func TestMessagesAreWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := anyMessage(t)
		b := m.Append(nil)
		got, err := ParseMessage(b)
		require.NoError(t, err)
		require.Equal(t, m, got)
		_, err = ParseMessage(b[:rapid.IntRange(0, len(b)-1).Draw(t, "cut")])
		require.Error(t, err)
		_, err = ParseMessage(append(b, 0))
		require.Error(t, err)
	})
}

func TestOtherBytesAreNoMessage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "bytes")
		if m, err := ParseMessage(b); err == nil && m.Kind != Keepalive {
			require.Len(t, m.Append(nil), len(b)-int(b[30])+m.Members.Len(), "ids that are named twice are one")
		}
	})
	m := Message{Kind: Ping}
	b := m.Append(nil)
	b[0] = byte(kinds)
	_, err := ParseMessage(b)
	require.Error(t, err)
	require.Equal(t, "unknown", kinds.String())
}
