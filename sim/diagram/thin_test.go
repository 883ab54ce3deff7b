package diagram

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func noteOf(t *testing.T, svg *parsed) string {
	t.Helper()
	notes := svg.in("legend", "note")
	if len(notes) == 0 {
		return ""
	}
	return notes[0].Text
}

func TestTooManyMessagesAreThinnedAndThePictureSaysSo(t *testing.T) {
	svg := parse(t, crowdedRun(3*MaxMessages), Options{})
	require.Len(t, svg.in("messages", "message"), MaxMessages)
	require.Equal(t, "2,000 of 6,000 messages drawn", noteOf(t, svg))
	require.Contains(t, svg.Children[1].Text, "2,000 of 6,000 messages drawn")
	svg = parse(t, crowdedRun(MaxMessages), Options{})
	require.Len(t, svg.in("messages", "message"), MaxMessages)
	require.Empty(t, noteOf(t, svg))
	svg = parse(t, crowdedRun(90), Options{MaxMessages: 45})
	require.Len(t, svg.in("messages", "message"), 45)
	require.Contains(t, noteOf(t, svg), "45 of 90 messages drawn")
}

func TestKeepalivesAreHiddenAndThinnedFirst(t *testing.T) {
	svg := parse(t, crowdedRun(90), Options{HideKeepalives: true})
	require.Len(t, svg.in("messages", "message"), 60)
	require.Empty(t, svg.in("messages", "keepalive"))
	require.Contains(t, noteOf(t, svg), "30 keepalives hidden")

	svg = parse(t, crowdedRun(90), Options{MaxMessages: 70})
	require.Len(t, svg.in("messages", "message"), 70)
	require.Len(t, svg.in("messages", "message keepalive"), 10, "all 60 others stay")
}

func TestThinningIsEven(t *testing.T) {
	all := make([]*Message, 1000)
	for i := range all {
		all[i] = &Message{Sent: time.Duration(i)}
	}
	chosen := thin(all, 100)
	require.Len(t, chosen, 100)
	for i := 1; i < len(chosen); i++ {
		require.EqualValues(t, 10, chosen[i].Sent-chosen[i-1].Sent)
	}
	require.Len(t, thin(all, 999), 999)
}

func TestLabelsOfMessagesInSmallPicturesOnly(t *testing.T) {
	svg := parse(t, crowdedRun(MaxLabelledMessages), Options{})
	labels := 0
	for _, l := range svg.in("labels", "label") {
		if l.Text == "x" {
			labels++
		}
	}
	require.Greater(t, labels, MaxLabelledMessages/2)
	for _, l := range parse(t, crowdedRun(MaxLabelledMessages+1), Options{}).in("labels", "label") {
		require.NotEqual(t, "x", l.Text)
	}
}

// An element that would share its pixels with another one is drawn once: a run of any
// length has a picture of bounded size.
func TestCrowdsOfBarsAndMarksAreDrawnOnce(t *testing.T) {
	r := &Run{Nodes: []string{"a"}, To: 200000}
	for i := range 50000 {
		at := time.Duration(i) * 4
		r.Bars = append(r.Bars, Bar{From: at, To: at + 4, Kind: Lead, Group: i})
		r.Marks = append(r.Marks, Mark{At: at, Kind: App}, Mark{Node: All, At: at, Kind: Event})
	}
	svg := parse(t, r, Options{Width: 500})
	for _, found := range [][]*parsed{svg.in("bars", "lead"), svg.in("marks", "app"), svg.in("lines", "event")} {
		require.Greater(t, len(found), 300)
		require.Less(t, float64(len(found)), 500/samePixels)
	}
}

func TestLabelsWithoutRoomAreCounted(t *testing.T) {
	r := &Run{Nodes: []string{"a"}, To: time.Second}
	for range 20 {
		r.Marks = append(r.Marks, Mark{Node: 0, At: 500 * ms, Label: "the same place"})
	}
	svg := parse(t, r, Options{})
	drawn := len(svg.in("labels", "label"))
	require.Positive(t, drawn)
	require.Equal(t, plural(20-drawn, "label")+" left out for lack of room", noteOf(t, svg))
}
