package diagram

import (
	"bytes"
	"encoding/xml"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestBadInputIsNamed(t *testing.T) {
	for want, spoil := range map[string]func(*Run, *Options){
		"Options.Width: 3 is not within 480..16384":      func(_ *Run, o *Options) { o.Width = 3 },
		"Options.Width: 99999 is not within 480..16384":  func(_ *Run, o *Options) { o.Width = 99999 },
		"Options.MaxMessages: -1 is negative":            func(_ *Run, o *Options) { o.MaxMessages = -1 },
		"Options.To: 1ns is not after From, 2ns":         func(_ *Run, o *Options) { o.From, o.To = 2, 1 },
		"Run.To: 0s is not after From, 0s":               func(r *Run, _ *Options) { r.To = 0 },
		"Run.From, To: -2562047h47m16.854775808s..760ms": func(r *Run, _ *Options) { r.From = math.MinInt64 },
		"Run.Nodes: 0 nodes are not within 1..64":        func(r *Run, _ *Options) { r.Nodes = nil },
		"Run.Nodes: 65 nodes are not within 1..64":       func(r *Run, _ *Options) { r.Nodes = make([]string, 65) },
		"Run.IDs: 1 ids for 5 nodes":                     func(r *Run, _ *Options) { r.IDs = r.IDs[:1] },
		"Run.Messages[3].From: no node -1":               func(r *Run, _ *Options) { r.Messages[3].From = -1 },
		"Run.Messages[3].To: no node 5":                  func(r *Run, _ *Options) { r.Messages[3].To = 5 },
		"Run.Messages[3].To: node 2 sends to itself":     func(r *Run, _ *Options) { r.Messages[3].From, r.Messages[3].To = 2, 2 },
		"Run.Messages[3].Fate: no fate 3":                func(r *Run, _ *Options) { r.Messages[3].Fate = 3 },
		"Run.Messages[3].Arrived: -1ns is before Sent":   func(r *Run, _ *Options) { r.Messages[3].Fate, r.Messages[3].Arrived = Slow, -1 },
		"Run.Bars[2].Node: no node 5":                    func(r *Run, _ *Options) { r.Bars[2].Node = 5 },
		"Run.Bars[2].Kind: no kind 6":                    func(r *Run, _ *Options) { r.Bars[2].Kind = 6 },
		"Run.Bars[2].To: -1ns is before From":            func(r *Run, _ *Options) { r.Bars[2].To = -1 },
		"Run.Marks[1].Node: no node -2":                  func(r *Run, _ *Options) { r.Marks[1].Node = -2 },
		"Run.Marks[1].Kind: no kind -1":                  func(r *Run, _ *Options) { r.Marks[1].Kind = -1 },
	} {
		r, o := sampleRun(), Options{}
		spoil(r, &o)
		var b bytes.Buffer
		err := Render(&b, r, o)
		require.ErrorContains(t, err, "diagram: "+want)
		require.Zero(t, b.Len(), "nothing is written")
	}
	require.ErrorContains(t, Render(io.Discard, nil, Options{}), "no Run")
}

func TestAnyTextIsDrawn(t *testing.T) {
	hostile := "a<b>&\"'\x00\x01\u202e\xff]]>\n\tz" + strings.Repeat("w", 2*MaxLabel)
	r := fullRun()
	r.Title, r.Subtitle, r.Nodes[0], r.IDs[0] = hostile, hostile, hostile, hostile
	for i := range r.Marks {
		r.Marks[i].Label = hostile
	}
	for i := range r.Bars {
		r.Bars[i].Label = hostile
	}
	for i := range r.Messages {
		r.Messages[i].Label = hostile
	}
	svg := parse(t, r, Options{})
	require.True(t, strings.HasPrefix(svg.Children[0].Text, "a<b>&\"'\uFFFD]]> zw"), svg.Children[0].Text)
	require.NotEmpty(t, render(t, r, Options{Width: 600}))
	require.Empty(t, clean(" \n\x07 "))
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		from, to    time.Duration
		first, last string
	}{
		{0, 760 * ms, "0", "700 ms"},
		{0, 10 * time.Second, "0", "10 s"},
		{0, 2500 * ms, "0", "2.5 s"},
		{300 * ms, 330 * ms, "300 ms", "330 ms"},
		{0, 800, "0", "800 ns"},
		{0, 90 * time.Microsecond, "0", "90 µs"},
		{12 * time.Second, 12*time.Second + 3*ms, "12,000.0 ms", "12,003.0 ms"},
		{-20 * ms, 20 * ms, "−20 ms", "20 ms"},
		{-MaxTime, MaxTime, "−2,000,000,000 s", "2,000,000,000 s"},
		{7, 8, "7 ns", "8 ns"},
	} {
		r := &Run{Nodes: []string{"a"}, From: c.from, To: c.to}
		ticks := parse(t, r, Options{Width: 1040}).in("axis", "time")
		require.Equal(t, c.first, ticks[0].Text, c)
		last := ticks[len(ticks)-1].Text
		require.Equal(t, c.last, last, c)
		require.LessOrEqual(t, len(ticks), 14)
	}
}

// maxFuzzed is how many bytes of an input are enough for crowded pictures; more
// only make each one slower.
const maxFuzzed = 1000

// FuzzRender draws runs made of arbitrary bytes: whatever is valid is drawn
// without a panic, as SVG that parses, and twice the same.
func FuzzRender(f *testing.F) {
	f.Add([]byte("three nodes and some bytes to draw"), int64(1000), uint16(700))
	f.Add(bytes.Repeat([]byte{0, 255, 3, 17, 129, 2}, 60), int64(math.MaxInt64/4), uint16(0))
	f.Add(bytes.Repeat([]byte{7, 1, 0, 2, 9, 200, 31}, 90), int64(1), uint16(481))
	f.Fuzz(func(t *testing.T, data []byte, span int64, width uint16) {
		if len(data) > maxFuzzed {
			return
		}
		r, o := runOf(data, time.Duration(span)), Options{Width: int(width), HideKeepalives: len(data)%2 == 0}
		var svg, again bytes.Buffer
		if Render(&svg, r, o) != nil {
			return
		}
		if err := xml.Unmarshal(svg.Bytes(), new(parsed)); err != nil {
			t.Fatal(err)
		}
		if Render(&again, r, o) != nil || !bytes.Equal(svg.Bytes(), again.Bytes()) {
			t.Fatal("two pictures of one run")
		}
	})
}

// runOf makes a run of bytes, most of it valid.
func runOf(data []byte, span time.Duration) *Run {
	next := func() int {
		if len(data) == 0 {
			return 0
		}
		b := data[0]
		data = data[1:]
		return int(b)
	}
	at := func() time.Duration { return time.Duration(float64(span) * (float64(next()) - 16) / 200) }
	r := &Run{Title: string(data[:min(len(data), 9)]), To: span, Nodes: make([]string, next()%12+1)}
	n := len(r.Nodes)
	for len(data) > 0 {
		from, to := at(), at()
		if to < from {
			from, to = to, from
		}
		length := next() % 32
		label := string(data[:min(len(data), length)])
		switch next() % 3 {
		case 0:
			a := next() % n
			r.Messages = append(r.Messages, Message{From: a, To: (a + 1 + next()%max(n-1, 1)) % n, Sent: from, Arrived: to,
				Fate: Fate(next() % 3), Keepalive: next()%2 == 0, Label: label})
		case 1:
			r.Bars = append(r.Bars, Bar{Node: next() % n, From: from, To: to, Kind: BarKind(next() % 6), Group: next(), Label: label})
		case 2:
			r.Marks = append(r.Marks, Mark{Node: next()%(n+1) - 1, At: from, Kind: MarkKind(next() % 4), Label: label})
		}
	}
	return r
}
