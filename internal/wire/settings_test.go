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
	number := func() uint32 { return uint32(g.uint(0, math.MaxUint32)) }
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
		text := strings.Repeat("s", n) + strings.Repeat("ä", MaxSystem)
		long := CutSystem(text)
		require.Greater(t, len(long), MaxSystem-len(Fixed)-5)
		require.True(t, strings.HasSuffix(long, "ä…"))
		require.Equal(t, long+Fixed, CutSystem(text+Fixed), "the rest is the same if it is cut")
		require.LessOrEqual(t, len(long+Fixed), MaxSystem)
		require.True(t, (&Settings{Group: "g", System: long + Fixed}).valid())
	}
	longest := strings.Repeat("s", MaxSystem-len(Fixed))
	require.Equal(t, longest, CutSystem(longest))
}

// Only the quorum system may differ between nodes of a group of epochs, and it must not be
// fixed.
func TestSettingsFollowThoseOfOtherEpochs(t *testing.T) {
	here := Settings{Group: "g", MaxPacket: 1200, MaxDrift: 100, FastThreshold: 5, Broadcast: true, Window: 9, MaxMessages: 8, MaxPayload: 7,
		RequireQuorum: true, Quorum: leader.QuorumID{Epoch: 2, Digest: 3}, System: "majority:1"}
	follows := func(change func(*Settings)) bool {
		there := here
		change(&there)
		return there.Follows(&here)
	}
	require.True(t, follows(func(*Settings) {}))
	require.True(t, follows(func(s *Settings) { s.Quorum, s.System = leader.QuorumID{Epoch: 1, Digest: 1}, "majority:2" }))
	for name, change := range map[string]func(*Settings){
		"unknown":    func(s *Settings) { *s = Settings{} },
		"group":      func(s *Settings) { s.Group = "h" },
		"packets":    func(s *Settings) { s.MaxPacket++ },
		"drift":      func(s *Settings) { s.MaxDrift++ },
		"fast":       func(s *Settings) { s.FastThreshold++ },
		"broadcast":  func(s *Settings) { s.Broadcast = false },
		"window":     func(s *Settings) { s.Window++ },
		"messages":   func(s *Settings) { s.MaxMessages++ },
		"payload":    func(s *Settings) { s.MaxPayload++ },
		"any quorum": func(s *Settings) { s.RequireQuorum = false },
		"fixed":      func(s *Settings) { s.System += Fixed },
	} {
		require.False(t, follows(change), name)
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
