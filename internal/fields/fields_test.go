package fields

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestFieldsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u, v := rapid.Uint64().Draw(t, "u"), rapid.Int64().Draw(t, "v")
		b := binary.BigEndian.AppendUint64([]byte{7, 1}, u)
		b = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint16(b, uint16(u)), uint32(u))
		b = binary.AppendVarint(binary.AppendUvarint(b, u), v)
		read := func(b []byte) *Reader {
			r := &Reader{Rest: b}
			got := []any{r.Byte(), r.Flag(), r.Uint64(), r.Uint16(), r.Uint32(), r.Uvarint(), r.Varint()}
			if !r.Bad {
				require.Equal(t, []any{byte(7), true, u, uint16(u), uint32(u), u, v}, got)
			}
			return r
		}
		require.True(t, read(b).End())
		for n := range b {
			require.True(t, read(b[:n]).Bad, "%d bytes of %d", n, len(b))
		}
		require.False(t, read(append(b, 0)).End())
	})
}

func TestAFieldAfterAMissingOneIsMissing(t *testing.T) {
	r := Reader{Rest: []byte{1, 2, 3}}
	require.Zero(t, r.Uint32())
	require.True(t, r.Bad)
	require.Zero(t, r.Byte())
	require.Zero(t, r.Uvarint())
	require.Nil(t, r.Take(1))
	require.Equal(t, []byte{1, 2, 3}, r.Rest)
}

func TestOtherFormsAreRefused(t *testing.T) {
	for name, read := range map[string]func(r *Reader) any{
		"a flag of 2":          func(r *Reader) any { r.Rest = []byte{2}; return r.Flag() },
		"a number with a tail": func(r *Reader) any { r.Rest = []byte{0x80, 0}; return r.Uvarint() },
		"a number without end": func(r *Reader) any { r.Rest = []byte{0x80}; return r.Uvarint() },
		"a number of 65 bits": func(r *Reader) any {
			r.Rest = append(binary.AppendUvarint(nil, math.MaxUint64)[:9], 2)
			return r.Uvarint()
		},
		"fewer than no bytes":    func(r *Reader) any { r.Rest = []byte{1}; return r.Take(-1) },
		"more bytes than follow": func(r *Reader) any { r.Rest = []byte{1}; return r.Take(2) },
	} {
		var r Reader
		require.Zero(t, read(&r), name)
		require.True(t, r.Bad, name)
	}
}

func TestAllLeavesNothing(t *testing.T) {
	r := Reader{Rest: []byte{1, 2}}
	r.Byte()
	require.Equal(t, []byte{2}, r.All())
	require.True(t, r.End())
}
