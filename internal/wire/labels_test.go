package wire

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/timed"
)

func (g *golden) labels(n int) *Labels {
	l := &Labels{Name: fmt.Sprintf("node ä-%d", g.below(1000))}
	for i := range n {
		l.Tags = append(l.Tags, Tag{fmt.Sprintf("key%02d", i), strings.Repeat("v", g.below(20))})
	}
	return l
}

func drawLabels(t *rapid.T) *Labels {
	l := &Labels{Name: rapid.StringMatching(`[a-zä-ü0-9]{0,9}`).Draw(t, "name")}
	for i := range rapid.IntRange(0, MaxTags).Draw(t, "tags") {
		l.Tags = append(l.Tags, Tag{fmt.Sprintf("k%c", 'a'+i), rapid.StringMatching(`[a-z =]{0,9}`).Draw(t, "value")})
	}
	return l
}

func drawSet(t *rapid.T) timed.Set {
	return timed.SetOf(rapid.SliceOf(drawNode).Draw(t, "set")...)
}

// fullLabels returns labels of the greatest size.
func fullLabels() *Labels {
	l := &Labels{Name: strings.Repeat("n", 128)}
	for i := range MaxTags {
		l.Tags = append(l.Tags, Tag{fmt.Sprintf("k%02d", i), strings.Repeat("v", (MaxLabels-128)/MaxTags-3)})
	}
	return l
}

// A packet with the most members and the largest labels fits the smallest MaxPacket.
func TestMostLabelsFit(t *testing.T) {
	p := basePacket()
	p.Frames, p.Labels = FrameMembers|FrameLabels, fullLabels()
	require.NoError(t, p.Labels.Check())
	for range MaxMembers {
		p.Members = append(p.Members, Member{timed.MaxNodes, netip.MustParseAddrPort("[fd00:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535")})
	}
	b, err := new(Encoder).Append(nil, &p)
	require.NoError(t, err)
	var got Packet
	require.NoError(t, new(Decoder).Decode(b, &got))
	require.Equal(t, p.Labels, got.Labels)
}

// What cannot be shown, or is too long, is no label: neither of this node nor, in a
// packet, of another one.
func labelsAreChecked(t testing.TB) {
	one := func(key, value string) Labels { return Labels{Tags: []Tag{{key, value}}} }
	long := fullLabels()
	long.Tags[0].Value += "v"
	many := Labels{}
	for i := range MaxTags + 1 {
		many.Tags = append(many.Tags, Tag{Key: fmt.Sprintf("k%02d", i)})
	}
	for want, l := range map[string]Labels{
		"129 bytes are more than 128":              {Name: strings.Repeat("n", 129)},
		"characters that cannot be shown":          {Name: "red\x1b[31m"},
		"spaces at its ends":                       {Name: " a"},
		"a key is needed":                          one("", "v"),
		"and 32 are allowed":                       one(strings.Repeat("k", 33), "v"),
		"and 128 are allowed":                      one("k", strings.Repeat("v", 129)),
		"other characters than letters":            one("a b", "v"),
		`value of "k" has characters that cannot`:  one("k", "\u202e"),
		"17 tags are more than 16":                 many,
		"are the same, or in the wrong order":      {Tags: []Tag{{"b", ""}, {"a", ""}}},
		`the keys "a" and "a" are the same`:        {Tags: []Tag{{"a", "1"}, {"a", "2"}}},
		"have 481 bytes, and 480 are allowed":      *long,
		`"\xff" has characters that cannot be sho`: {Name: "\xff"},
	} {
		require.ErrorContains(t, l.Check(), want)
		p := basePacket()
		p.Frames, p.Labels = FrameLabels, &l
		_, err := new(Encoder).Append(nil, &p)
		require.ErrorIs(t, err, ErrRange)

		var w writer // as another program would write it
		w.begin(nil)
		w.hello(&p)
		w.open(typeLabels, 1+2*len(l.Tags))
		w.bytes([]byte(l.Name))
		for _, x := range l.Tags {
			w.bytes([]byte(x.Key))
			w.bytes([]byte(x.Value))
		}
		w.close()
		require.Error(t, new(Decoder).DecodeFrames(p.Header, w.finish(), &Packet{}), want)
	}
}

func TestLabelsAreChecked(t *testing.T) { labelsAreChecked(t) }

// The id 0 is no node's.
func TestUsedIdsAreNodes(t *testing.T) {
	p := basePacket()
	var w writer
	w.begin(nil)
	w.hello(&p)
	w.open(typeUsed, usedLen)
	for range usedLen {
		w.uint(1, 0, 1)
	}
	w.close()
	require.ErrorIs(t, new(Decoder).DecodeFrames(p.Header, w.finish(), &Packet{}), ErrRange)
}
