package wire

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// Members of a view are listed once each, in the order of their ids: all nodes give the same
// view the same form.
func TestMembersOutOfOrderAreRefused(t *testing.T) {
	encoded := func(second timed.NodeID) []byte {
		p := proposePacket(2)
		p.Part.View.Set.Remove(p.Part.View.Members[1].Node)
		p.Part.View.Members[1].Node = second
		p.Part.View.Set.Add(second)
		b, err := new(Encoder).Append(nil, &p)
		require.NoError(t, err)
		return b
	}
	p := proposePacket(2)
	first, second := p.Part.View.Members[0].Node, p.Part.View.Members[1].Node
	b, other := encoded(second), encoded(second+1)
	require.Len(t, other, len(b))
	at := len(b) - 1
	for b[at] == other[at] { // the checksum, which differs too, is in the header
		at--
	}
	require.Equal(t, byte(second), b[at])
	var got Packet
	require.NoError(t, new(Decoder).Decode(b, &got))
	b[at] = byte(first)
	putWholeChecksum(b)
	require.ErrorIs(t, new(Decoder).Decode(b, &got), ErrView, "member %d behind %d", first, first)
}

// A sealed packet names the key that opens it.
func TestASealedPacketNamesItsKey(t *testing.T) {
	b := make([]byte, HeaderSize)
	binary.BigEndian.PutUint64(b[offBoot:], 77)
	require.Equal(t, timed.BootID(77), FinishSealed(b, 5, 6, 0xdecade01))
	require.Equal(t, uint32(0xdecade01), binary.BigEndian.Uint32(b[offKeyID:]))
	require.Equal(t, uint64(5), binary.BigEndian.Uint64(b[offStamp:]))
	require.Equal(t, uint64(6), binary.BigEndian.Uint64(b[offCounter:]))
}

// Labels are a name and pairs, so an array of an even length has half a tag.
func TestHalfATagIsRefused(t *testing.T) {
	p := basePacket()
	p.Frames, p.Labels = FrameLabels, &Labels{Name: "n", Tags: []Tag{{"k", "v"}}}
	b, err := new(Encoder).Append(nil, &p)
	require.NoError(t, err)
	require.Equal(t, "\x93\xc4\x01n\xc4\x01k\xc4\x01v", string(b[len(b)-10:]), "an array of three")
	length := b[len(b)-12 : len(b)-10]
	b[len(b)-10]--
	binary.BigEndian.PutUint16(length, binary.BigEndian.Uint16(length)-3)
	b = b[:len(b)-3]
	putWholeChecksum(b)
	var got Packet
	require.ErrorIs(t, new(Decoder).Decode(b, &got), ErrLength)
}

// A frame without content cannot be encoded, and neither can one that its length does not fit.
func TestWhatIsNoFrameIsNotSent(t *testing.T) {
	p := basePacket()
	p.Frames = FrameCollated
	for _, c := range []*Collated{nil, {}} {
		p.Collated = c
		_, err := new(Encoder).Append(nil, &p)
		require.ErrorIs(t, err, ErrRange)
	}
	for n, want := range map[int]error{maxMessage: nil, maxMessage + 1: ErrRange} {
		var w writer
		w.kind, w.head = typeLabels, 0
		w.b = make([]byte, frameHead+n)
		w.close()
		require.ErrorIs(t, w.err, want)
	}
}
