package datagram

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/timed"
)

func sampleHeader() Header {
	return Header{
		Version: Version, Suite: SuiteXChaCha20Poly1305, KeyID: 0x01020304, Group: 0x1112131415161718,
		Source: 0x21, Destination: 0x22, Boot: 0x3132333435363738, Counter: 0x4142434445464748,
		Stamp: 0x0152535455565758,
		Echo: Echo{Boot: 0x6162636465666768, Sent: 0x0172737475767778, Received: 0x0182838485868788,
			Latest: 0x0192939495969798, Heard: 0x01a2a3a4a5a6a7a8},
	}
}

// The shape of the header is final: this test never changes within version 1.
func TestHeaderIsWrittenAsDocumented(t *testing.T) {
	want := strings.Join([]string{"4641", "01", "01", "01020304", "1112131415161718", "21", "22",
		"3132333435363738", "4142434445464748", "0152535455565758",
		"6162636465666768", "0172737475767778", "0182838485868788", "0192939495969798", "01a2a3a4a5a6a7a8"}, "")
	h := sampleHeader()
	got := h.Append(nil)
	require.Equal(t, want, hex.EncodeToString(got))
	require.Len(t, got, HeaderSize)
}

func TestHeaderSurvivesTheWire(t *testing.T) {
	stamp := rapid.Int64Range(1, int64(MaxStamp))
	rapid.Check(t, func(t *rapid.T) {
		h := sampleHeader()
		h.Suite = uint8(rapid.IntRange(0, 1).Draw(t, "suite"))
		h.KeyID = rapid.Uint32().Draw(t, "key") * uint32(h.Suite)
		h.Group, h.Counter = rapid.Uint64().Draw(t, "group"), rapid.Uint64().Draw(t, "counter")
		h.Source = timed.NodeID(rapid.Uint8Range(1, 254).Draw(t, "source"))
		h.Destination = h.Source + 1
		h.Boot = timed.BootID(rapid.Uint64Min(1).Draw(t, "boot"))
		h.Stamp = timed.Instant(stamp.Draw(t, "stamp"))
		switch rapid.IntRange(0, 2).Draw(t, "echo") {
		case 0:
			h.Echo = Echo{Heard: NotHeard}
		case 1:
			h.Echo.Heard = NotHeard
		}
		b := h.Append([]byte("xx"))
		require.Equal(t, "xx", string(b[:2]))
		got, rest, err := ParseHeader(append(b, "body"...)[2:])
		require.NoError(t, err)
		require.Equal(t, h, got)
		require.Equal(t, "body", string(rest))
	})
}

func TestPatchStampWritesStampAndCounterOnly(t *testing.T) {
	h := sampleHeader()
	b := append(h.Append(nil), "body"...)
	PatchStamp(b, 77, 88)
	h.Stamp, h.Counter = 77, 88
	require.True(t, bytes.Equal(append(h.Append(nil), "body"...), b))
	require.Panics(t, func() { PatchStamp(b[:HeaderSize-1], 1, 1) })
}

func TestEveryWrongHeaderHasItsError(t *testing.T) {
	for name, c := range map[string]struct {
		change func(h *Header)
		err    error
	}{
		"version 0":                 {func(h *Header) { h.Version = 0 }, ErrVersion},
		"version 2":                 {func(h *Header) { h.Version = 2 }, ErrVersion},
		"unknown suite":             {func(h *Header) { h.Suite = 2 }, ErrSuite},
		"key of an unsealed packet": {func(h *Header) { h.Suite = SuiteNone }, ErrKeyID},
		"no source":                 {func(h *Header) { h.Source = 0 }, ErrSource},
		"no destination":            {func(h *Header) { h.Destination = 0 }, ErrDestination},
		"to itself":                 {func(h *Header) { h.Destination = h.Source }, ErrLoop},
		"no boot id":                {func(h *Header) { h.Boot = 0 }, ErrBoot},
		"no stamp":                  {func(h *Header) { h.Stamp = 0 }, ErrStamp},
		"negative stamp":            {func(h *Header) { h.Stamp = -1 }, ErrStamp},
		"stamp above the limit":     {func(h *Header) { h.Stamp = MaxStamp + 1 }, ErrStamp},
		"stamp that never comes":    {func(h *Header) { h.Stamp = timed.Never }, ErrStamp},
		"echo of nobody":            {func(h *Header) { h.Echo.Boot = 0 }, ErrEcho},
		"nobody that is heard":      {func(h *Header) { h.Echo = Echo{} }, ErrEcho},
		"echo without a stamp":      {func(h *Header) { h.Echo.Sent = 0 }, ErrEcho},
		"echo received before time": {func(h *Header) { h.Echo.Received = -5 }, ErrEcho},
		"latest above the limit":    {func(h *Header) { h.Echo.Latest = timed.Never }, ErrEcho},
		"heard before time":         {func(h *Header) { h.Echo.Heard = NotHeard + 1 }, ErrEcho},
		"heard at zero":             {func(h *Header) { h.Echo.Heard = 0 }, ErrEcho},
	} {
		h := sampleHeader()
		c.change(&h)
		require.Equal(t, c.err, h.Validate(), name)
		got, rest, err := ParseHeader(h.Append(nil))
		require.Equal(t, c.err, err, name)
		require.Equal(t, Header{}, got, name)
		require.Nil(t, rest, name)
	}
	h := sampleHeader()
	b := h.Append(nil)
	for n := range b {
		_, _, err := ParseHeader(b[:n])
		require.Equal(t, ErrShort, err)
	}
	for at := range 2 {
		b[at] ^= 0x20
		_, _, err := ParseHeader(b)
		require.Equal(t, ErrMagic, err)
		b[at] ^= 0x20
	}
}

// The limit of stamps is what keeps the arithmetic of the bounds from wrapping.
func TestBoundsOfExtremeStampsDoNotWrap(t *testing.T) {
	for _, rho := range []timed.Drift{0, 100_000, timed.MaxDrift} {
		far := bound(Pair{Sent: 1, Received: MaxStamp}, 1, MaxStamp, rho, 0)
		require.Greater(t, far, 2*MaxStamp.Sub(2)/2, "the longest delay that stamps can make up")
		require.Positive(t, far)
		near := bound(Pair{Sent: MaxStamp, Received: 1}, MaxStamp, 1, rho, timed.MaxDuration)
		require.Negative(t, near)
		require.True(t, Pair{MaxStamp, 1}.better(Pair{1, MaxStamp}, rho))
		require.False(t, Pair{1, MaxStamp}.better(Pair{MaxStamp, 1}, rho))
	}
}

func TestHeaderCodecAllocatesNothing(t *testing.T) {
	h := sampleHeader()
	b := h.Append(nil)
	junk := append([]byte(nil), b...)
	junk[offSource] = 0
	require.Zero(t, testing.AllocsPerRun(100, func() {
		b = h.Append(b[:0])
		PatchStamp(b, 5, 6)
		_, _, _ = ParseHeader(b)
		_, _, _ = ParseHeader(junk)
	}))
}

func FuzzParseHeader(f *testing.F) {
	h := sampleHeader()
	f.Add(h.Append(nil))
	h.Echo = Echo{Heard: NotHeard}
	f.Add(append(h.Append(nil), "body"...))
	h.Suite, h.KeyID = SuiteNone, 0
	f.Add(h.Append(nil)[:HeaderSize-1])
	f.Fuzz(func(t *testing.T, b []byte) {
		h, rest, err := ParseHeader(b)
		if err != nil {
			require.Equal(t, Header{}, h)
			require.Nil(t, rest)
			return
		}
		require.NoError(t, h.Validate())
		require.Equal(t, b[HeaderSize:], rest)
		require.Equal(t, b[:HeaderSize], h.Append(nil), "a header has one encoding")
	})
}

func BenchmarkHeader(b *testing.B) {
	h := sampleHeader()
	buf := h.Append(nil)
	junk := append([]byte("xx"), buf[2:]...)
	b.Run("append", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			buf = h.Append(buf[:0])
		}
	})
	b.Run("parse", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _, _ = ParseHeader(buf)
		}
	})
	b.Run("junk", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _, _ = ParseHeader(junk)
		}
	})
}
