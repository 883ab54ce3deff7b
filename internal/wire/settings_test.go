package wire

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

func (g *golden) settings(i int) *Settings {
	number := func() int { return int(g.uint(0, math.MaxUint32)) }
	return &Settings{Group: strings.Repeat("g", 1+i%maxGroup), MaxPacket: number(), MaxDrift: timed.Drift(g.uint(0, uint64(timed.MaxDrift))),
		FastThreshold: g.duration(), Broadcast: g.bool(), Window: number(), MaxMessages: number(), MaxPayload: number(), RequireQuorum: g.bool(),
		Quorum: leader.QuorumID{Epoch: g.uint(0, math.MaxUint64), Digest: g.uint(0, math.MaxUint64)}, System: strings.Repeat("s", i*MaxSystem/goldenEach)}
}

// settingsPacket has the largest settings, or the smallest.
func settingsPacket(largest bool) Packet {
	p := Packet{Header: basePacket().Header, Settings: &Settings{Group: "g"}}
	if largest {
		g := golden{mode: goldenMost}
		p.Settings = g.settings(maxGroup - 1)
		p.Settings.System = strings.Repeat("s", MaxSystem)
	}
	return p
}

// settingsHaveOneSize has packets of all settings be of one size, so that an answer with
// settings is never larger than the question. They fit the smallest MaxPacket.
func settingsHaveOneSize(t testing.TB) {
	for _, largest := range []bool{false, true} {
		p := settingsPacket(largest)
		b, err := new(Encoder).Append(nil, &p)
		require.NoError(t, err)
		require.Len(t, b, HeaderSize+frameHead+settingsBytes+checksumSize)
		var got Packet
		require.NoError(t, new(Decoder).Decode(b, &got))
		require.Equal(t, p.Settings, got.Settings)
		require.Equal(t, Packet{Header: got.Header, Settings: got.Settings}, got, "nothing else is said")
	}
}

func TestSettingsHaveOneSize(t *testing.T) { settingsHaveOneSize(t) }

// settingsAreChecked has settings that cannot be shown, or are too long, be no settings:
// neither of this node nor, in a packet, of another one.
func settingsAreChecked(t testing.TB) {
	for _, s := range []Settings{{}, {Group: strings.Repeat("g", maxGroup+1)}, {Group: "g", System: strings.Repeat("s", MaxSystem+1)}, {Group: "g", System: "\x1b[2J"}} {
		_, err := new(Encoder).Append(nil, &Packet{Header: basePacket().Header, Settings: &s})
		require.ErrorIs(t, err, ErrRange)
	}
	p := settingsPacket(false)
	p.Settings.System = "visible"
	b, err := new(Encoder).Append(nil, &p)
	require.NoError(t, err)
	hidden := []byte(strings.Replace(string(b), "visible", "v\x1b[2Jle", 1))
	var got Packet
	require.ErrorIs(t, new(Decoder).Decode(checked(hidden), &got), ErrRange)
	require.Equal(t, Packet{}, got)
}

func TestSettingsAreChecked(t *testing.T) { settingsAreChecked(t) }

// A packet of settings with another length, or with another frame, is malformed.
func TestSettingsStandAlone(t *testing.T) {
	p := settingsPacket(true)
	b, err := new(Encoder).Append(nil, &p)
	require.NoError(t, err)
	frames, err := Unsealed(b)
	require.NoError(t, err)
	require.True(t, HasSettings(frames))
	for _, bad := range [][]byte{frames[:len(frames)-1], append(frames[:len(frames):len(frames)], 0), frames[:frameHead], frames[:1]} {
		var got Packet
		require.ErrorIs(t, new(Decoder).DecodeFrames(p.Header, bad, &got), ErrLength)
		require.Equal(t, Packet{}, got)
	}
	require.False(t, HasSettings(nil))
}

// Long systems are cut, and stay text.
func TestCutSystem(t *testing.T) {
	require.Equal(t, "majority:1", CutSystem("majority:1"))
	for n := range 5 {
		long := CutSystem(strings.Repeat("s", n) + strings.Repeat("ä", MaxSystem))
		require.LessOrEqual(t, len(long), MaxSystem)
		require.Greater(t, len(long), MaxSystem-5)
		require.True(t, strings.HasSuffix(long, "ä…"))
		require.True(t, (&Settings{Group: "g", System: long}).valid())
	}
}

// Claims are read from what is no packet of this build too.
func TestClaims(t *testing.T) {
	var e Encoder
	b, err := e.Append(nil, &Packet{Header: datagram.Header{Version: Version, Suite: SuiteXAES256GCM, KeyID: 77, Source: 1, Boot: 1, Stamp: 1, Echo: datagram.Echo{Heard: datagram.NotHeard}}})
	require.NoError(t, err)
	version, key := Claims(b)
	require.Equal(t, [2]uint32{uint32(Version), 77}, [2]uint32{uint32(version), key})
	version, key = Claims(b[:offGroup-1])
	require.Equal(t, [2]uint32{}, [2]uint32{uint32(version), key})
}
