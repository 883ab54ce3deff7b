package wire

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/timed"
)

func sampleHeader() datagram.Header {
	return datagram.Header{
		Version: Version, Suite: SuiteXAES256GCM, KeyID: 0x01020304, Group: 0x1112131415161718,
		Source: 0x21, Destination: 0x22, Boot: 0x3132333435363738, Counter: 0x4142434445464748,
		Stamp: 0x0152535455565758,
		Echo: datagram.Echo{Boot: 0x6162636465666768, Sent: 0x0172737475767778, Received: 0x0182838485868788,
			Latest: 0x0192939495969798, Heard: 0x01a2a3a4a5a6a7a8},
	}
}

// The layout of the header is final: this test never changes within a version.
func TestHeaderIsWrittenAsDocumented(t *testing.T) {
	want := strings.Join([]string{"4641", "06", "01", "01020304", "1112131415161718", "21", "22",
		"3132333435363738", "4142434445464748", "0152535455565758",
		"6162636465666768", "0172737475767778", "0182838485868788", "0192939495969798", "01a2a3a4a5a6a7a8"}, "")
	h := sampleHeader()
	got := AppendHeader(nil, &h)
	require.Equal(t, want, hex.EncodeToString(got))
	require.Len(t, got, HeaderSize)
}

// A packet may be quiet, patient or both, whatever its suite is. The bits are final as the layout is.
func TestBitsBesideTheSuite(t *testing.T) { besideTheSuite(t) }

func besideTheSuite(t testing.TB) {
	var e Encoder
	var d Decoder
	for bits := range byte(4) {
		for suite := range byte(suiteEnd) {
			p := basePacket()
			p.Header.Suite, p.Header.Quiet, p.Header.Patient = suite, bits&2 != 0, bits&1 != 0
			b, err := e.Append(nil, &p)
			require.NoError(t, err)
			require.Equal(t, bits<<6|suite, b[3])
			FinishWhole(b, p.Header.Stamp, p.Header.Counter)
			var got Packet
			require.NoError(t, d.Decode(b, &got))
			require.Equal(t, p, got)
			if suite == SuiteNone {
				b[len(b)-1] ^= 1
				require.ErrorIs(t, d.Decode(b, &got), ErrChecksum)
			}
		}
	}
	offset, mask := QuietMark()
	require.Equal(t, []any{3, byte(0x80)}, []any{offset, mask})
}

func TestHeaderSurvivesTheWire(t *testing.T) {
	stamp := rapid.Int64Range(1, int64(datagram.MaxStamp))
	rapid.Check(t, func(t *rapid.T) {
		h := sampleHeader()
		h.Suite = uint8(rapid.IntRange(0, 2).Draw(t, "suite"))
		h.KeyID = rapid.Uint32().Draw(t, "key") * uint32(h.Suite)
		h.Group, h.Counter = rapid.Uint64().Draw(t, "group"), rapid.Uint64().Draw(t, "counter")
		h.Source = timed.NodeID(rapid.Uint8Range(1, 254).Draw(t, "source"))
		h.Destination = h.Source + 1
		h.Boot = timed.BootID(rapid.Uint64Min(1).Draw(t, "boot"))
		h.Stamp = timed.Instant(stamp.Draw(t, "stamp"))
		switch rapid.IntRange(0, 3).Draw(t, "echo") {
		case 0:
			h.Echo = datagram.Echo{Heard: datagram.NotHeard}
		case 1:
			h.Echo.Heard = datagram.NotHeard
		case 2:
			h.Echo.Heard = datagram.Distrusted
		}
		b := AppendHeader([]byte("xx"), &h)
		require.Equal(t, "xx", string(b[:2]))
		got, rest, err := ParseHeader(append(b, "body"...)[2:])
		require.NoError(t, err)
		require.Equal(t, h, got)
		require.Equal(t, "body", string(rest))
	})
}

func TestFinishWritesOnlyStampAndCounterToBeSealed(t *testing.T) {
	h := sampleHeader()
	b := append(AppendHeader(nil, &h), "body"...)
	FinishWhole(b, 77, 88)
	h.Stamp, h.Counter = 77, 88
	require.True(t, bytes.Equal(append(AppendHeader(nil, &h), "body"...), b))
	require.Panics(t, func() { FinishWhole(b[:HeaderSize-1], 1, 1) })
}

func TestEveryWrongHeaderHasItsError(t *testing.T) {
	for name, c := range map[string]struct {
		change func(h *datagram.Header)
		err    error
	}{
		"version 0":                 {func(h *datagram.Header) { h.Version = 0 }, ErrVersion},
		"a version too old":         {func(h *datagram.Header) { h.Version = Oldest - 1 }, ErrVersion},
		"quiet in version 3":        {func(h *datagram.Header) { h.Version, h.Quiet = 3, true }, ErrSuite},
		"patient in version 3":      {func(h *datagram.Header) { h.Version, h.Patient = 3, true }, ErrSuite},
		"the next version":          {func(h *datagram.Header) { h.Version = Version + 1 }, ErrVersion},
		"unknown suite":             {func(h *datagram.Header) { h.Suite = 3 }, ErrSuite},
		"key of an unsealed packet": {func(h *datagram.Header) { h.Suite = SuiteNone }, ErrKeyID},
		"no source":                 {func(h *datagram.Header) { h.Source = 0 }, ErrSource},
		"no destination":            {func(h *datagram.Header) { h.Destination = 0 }, ErrDestination},
		"to itself":                 {func(h *datagram.Header) { h.Destination = h.Source }, ErrLoop},
		"no boot id":                {func(h *datagram.Header) { h.Boot = 0 }, ErrBoot},
		"no stamp":                  {func(h *datagram.Header) { h.Stamp = 0 }, ErrStamp},
		"negative stamp":            {func(h *datagram.Header) { h.Stamp = -1 }, ErrStamp},
		"stamp above the limit":     {func(h *datagram.Header) { h.Stamp = datagram.MaxStamp + 1 }, ErrStamp},
		"stamp that never comes":    {func(h *datagram.Header) { h.Stamp = timed.Never }, ErrStamp},
		"echo of no node":           {func(h *datagram.Header) { h.Echo.Boot = 0 }, ErrEcho},
		"no node is heard":          {func(h *datagram.Header) { h.Echo = datagram.Echo{} }, ErrEcho},
		"echo without a stamp":      {func(h *datagram.Header) { h.Echo.Sent = 0 }, ErrEcho},
		"echo received before time": {func(h *datagram.Header) { h.Echo.Received = -5 }, ErrEcho},
		"latest above the limit":    {func(h *datagram.Header) { h.Echo.Latest = timed.Never }, ErrEcho},
		"heard before time":         {func(h *datagram.Header) { h.Echo.Heard = datagram.Distrusted + 1 }, ErrEcho},
		"heard at zero":             {func(h *datagram.Header) { h.Echo.Heard = 0 }, ErrEcho},
	} {
		h := sampleHeader()
		c.change(&h)
		require.Equal(t, c.err, checkHeader(&h), name)
		got, rest, err := ParseHeader(AppendHeader(nil, &h))
		require.Equal(t, c.err, err, name)
		require.Equal(t, datagram.Header{}, got, name)
		require.Nil(t, rest, name)
	}
	h := sampleHeader()
	b := AppendHeader(nil, &h)
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

func TestHeaderCodecAllocatesNothing(t *testing.T) {
	h := sampleHeader()
	b := AppendHeader(nil, &h)
	junk := append([]byte(nil), b...)
	junk[offSource] = 0
	require.Zero(t, testing.AllocsPerRun(100, func() {
		b = AppendHeader(b[:0], &h)
		FinishWhole(b, 5, 6)
		_, _, _ = ParseHeader(b)
		_, _, _ = ParseHeader(junk)
	}))
}

func FuzzParseHeader(f *testing.F) {
	h := sampleHeader()
	f.Add(AppendHeader(nil, &h))
	h.Echo = datagram.Echo{Heard: datagram.NotHeard}
	f.Add(append(AppendHeader(nil, &h), "body"...))
	h.Suite, h.KeyID = SuiteNone, 0
	f.Add(AppendHeader(nil, &h)[:HeaderSize-1])
	f.Fuzz(func(t *testing.T, b []byte) {
		h, rest, err := ParseHeader(b)
		if err != nil {
			require.Equal(t, datagram.Header{}, h)
			require.Nil(t, rest)
			return
		}
		require.NoError(t, checkHeader(&h))
		require.Equal(t, b[HeaderSize:], rest)
		require.Equal(t, b[:HeaderSize], AppendHeader(nil, &h), "a header has one encoding")
	})
}

func BenchmarkHeader(b *testing.B) {
	h := sampleHeader()
	buf := AppendHeader(nil, &h)
	junk := append([]byte("xx"), buf[2:]...)
	b.Run("append", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			buf = AppendHeader(buf[:0], &h)
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

// A packet of version 3 is one of version 4 that is neither quiet nor patient, with
// another number.
func TestVersion3(t *testing.T) {
	h := sampleHeader()
	newer := AppendHeader(nil, &h)
	h.Version = 3
	older := AppendHeader(nil, &h)
	require.Equal(t, uint8(3), older[offVersion])
	older[offVersion] = Version
	require.Equal(t, newer, older)
	older[offVersion] = 3
	got, _, err := ParseHeader(older)
	require.NoError(t, err)
	require.Equal(t, h, got)
}

// The counter tells what its sender speaks. That of a build which says nothing begins at 0.
func TestTheCounterHasTheNewestVersion(t *testing.T) {
	for _, c := range []struct {
		version uint8
		counter uint64
		newest  uint8
	}{{3, 77, 3}, {4, 77, 4}, {3, FirstCounter(4) + 77, 4}, {4, FirstCounter(3), 4}, {4, FirstCounter(9), 9}} {
		require.Equal(t, c.newest, NewestOf(&datagram.Header{Version: c.version, Counter: c.counter}))
	}
}
