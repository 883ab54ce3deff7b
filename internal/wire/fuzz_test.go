package wire

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// allocated returns how many bytes f allocates. Other goroutines may allocate at
// the same time, so it returns the smallest of a few measurements.
func allocated(f func()) uint64 {
	least := ^uint64(0)
	for range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n < least {
			least = n
		}
		if least < 1024 {
			break
		}
	}
	return least
}

func FuzzDecode(f *testing.F) {
	var e Encoder
	for _, p := range samples() {
		b, err := e.Append(nil, &p)
		require.NoError(f, err)
		f.Add(b)
	}
	e.MaxPacket = 1 << 16
	cast := broadcastPacket()
	b, err := e.Append(nil, &cast)
	require.NoError(f, err)
	f.Add(b)
	for _, largest := range []bool{false, true} {
		p := settingsPacket(largest)
		b, err := e.Append(nil, &p)
		require.NoError(f, err)
		f.Add(b)
	}
	p := commitPacket(255, fromStrangers)
	b, err = e.Append(nil, &p)
	require.NoError(f, err)
	f.Add(b)

	var d Decoder
	var warm Packet
	require.NoError(f, d.Decode(b, &warm))
	f.Fuzz(func(t *testing.T, b []byte) {
		var p, again Packet
		// Damaged bytes as they are. They end at the checksum, unless it is right.
		if d.Decode(b, &p) == nil && p.Header.Suite == SuiteNone {
			_, err := Unsealed(b)
			require.NoError(t, err)
		}
		if len(b) >= HeaderSize+checksumSize && b[offSuite] == SuiteNone {
			b = checked(append([]byte(nil), b...))
		}
		var err error
		if n := allocated(func() { err = d.Decode(b, &p) }); n > uint64(1024+20*len(b)) {
			t.Fatalf("%d bytes of input made it allocate %d", len(b), n)
		}
		if err != nil {
			require.Equal(t, Packet{}, p)
			return
		}
		out, err := e.Append(nil, &p)
		require.NoError(t, err, "what was decoded can be encoded")
		require.LessOrEqual(t, len(out), len(b), "and in no more bytes")
		if p.Broadcast != nil {
			said := exported(p.Broadcast)
			require.NoError(t, new(Decoder).Decode(out, &again))
			require.Equal(t, said, exported(again.Broadcast))
			p.Broadcast, again.Broadcast = nil, nil
			require.Equal(t, p, again)
			return
		}
		require.NoError(t, d.Decode(out, &again))
		require.Equal(t, p, again)
	})
}
