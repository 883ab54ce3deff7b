package figure

import (
	"bytes"
	"encoding/xml"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func sample() *Figure {
	line := func(name string) Series {
		return Series{Name: name, Dots: true, Points: []Point{{1, 2}, {2, 8}, {3, 4}}}
	}
	return &Figure{Title: "Title of it", Notes: []string{"first note", "second note"}, Panels: []Panel{
		{Title: "left", X: "across (ms)", Y: "up (µs)", Series: []Series{line("alpha"), {Name: "beta", Points: []Point{{1, 1}, {3, 9}}, Steps: true, Dashed: true}},
			Bands: []Band{{Name: "bound", Points: []Span{{1, 0, 3}, {3, 1, 5}}, Colour: 4}}},
		{Title: "right", X: "n", Y: "packets", LogX: true, LogY: true, Series: []Series{line("gamma")}},
	}}
}

// textOf returns the words of an SVG, which must be well-formed XML.
func textOf(t *testing.T, svg []byte) string {
	t.Helper()
	var words strings.Builder
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if token == nil {
			require.ErrorContains(t, err, "EOF")
			return words.String()
		}
		if c, ok := token.(xml.CharData); ok {
			words.Write(c)
			words.WriteByte('\n')
		}
	}
}

func render(t *testing.T, f *Figure) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, f.Render(&b))
	return b.String()
}

func TestFigureSaysWhatItShows(t *testing.T) {
	svg := render(t, sample())
	words := textOf(t, []byte(svg))
	for _, w := range []string{"Title of it", "first note", "second note", "left", "right", "across (ms)", "up (µs)", "alpha", "beta", "gamma", "bound"} {
		require.Contains(t, words, w)
	}
	require.Equal(t, svg, render(t, sample()), "two pictures of one figure")
}

// Colours come from the style sheet alone, so that they follow the scheme of the viewer.
func TestFiguresFollowTheColourScheme(t *testing.T) {
	style, rest, _ := strings.Cut(render(t, sample()), "</style>")
	require.Contains(t, style, "@media (prefers-color-scheme: dark)")
	require.NotContains(t, rest, "#")
	for i := range light.palette {
		require.NotEqual(t, light.palette[i], dark.palette[i])
	}
}

func TestPointsAreWhereTheAxesSay(t *testing.T) {
	for _, s := range []scale{{low: 0, high: 10, from: 100, to: 200}, {low: 1, high: 1000, from: 300, to: 50, log: true}} {
		require.InDelta(t, s.from, s.at(s.low), 1e-9)
		require.InDelta(t, s.to, s.at(s.high), 1e-9)
	}
	s := scale{low: 1, high: 100, from: 0, to: 2, log: true}
	require.InDelta(t, 1, s.at(10), 1e-9)
}

func TestTicksAreRoundNumbers(t *testing.T) {
	for _, c := range []struct {
		s     scale
		count int
		want  string
	}{
		{scale{low: 0, high: 10}, 5, "0 2 4 6 8 10"},
		{scale{low: 0.7, high: 8.3}, 8, "1 2 3 4 5 6 7 8"},
		{scale{low: -30, high: 45}, 4, "−20 0 20 40"},
		{scale{low: 0, high: 0.007}, 4, "0.000 0.002 0.004 0.006"},
		{scale{low: 0, high: 60000}, 3, "0 20,000 40,000 60,000"},
		{scale{low: 0, high: 3000}, 3, "0 1000 2000 3000"},
		{scale{low: 10, high: 1000, log: true}, 5, "10 20 50 100 200 500 1000"},
		{scale{low: 0.1, high: 1e5, log: true}, 6, "0.1 1 10 100 1000 10,000 100,000"},
	} {
		var labels []string
		for _, tick := range c.s.ticks(c.count) {
			if tick.label != "" {
				labels = append(labels, tick.label)
			}
		}
		require.Equal(t, c.want, strings.Join(labels, " "))
	}
}

func TestDataWithoutExtentAreDrawn(t *testing.T) {
	for _, log := range []bool{false, true} {
		f := &Figure{Panels: []Panel{{LogX: log, LogY: log, Series: []Series{{Points: []Point{{5, 3}}, Dots: true}}}}}
		require.NotContains(t, render(t, f), "NaN")
	}
}

func TestPanelsStandInRows(t *testing.T) {
	for n, want := range map[int]string{1: `width="720"`, 2: `width="1040"`, 3: `width="1040"`, 4: `height="7`} {
		f := sample()
		f.Panels = nil
		for range n {
			f.Panels = append(f.Panels, sample().Panels[0])
		}
		head, _, _ := strings.Cut(render(t, f), "<title>")
		require.Contains(t, head, want, n)
	}
}

func TestWhatCannotBeDrawn(t *testing.T) {
	for want, spoil := range map[string]func(*Figure){
		"1 to 4 panels":                       func(f *Figure) { f.Panels = nil },
		`panel "left": 1 to 32 series`:        func(f *Figure) { f.Panels[0].Series = nil },
		`series "alpha" has no points`:        func(f *Figure) { f.Panels[0].Series[0].Points = nil },
		`series "alpha": the point (2, +Inf)`: func(f *Figure) { f.Panels[0].Series[0].Points[1].Y = math.Inf(1) },
		`band "bound": the point (1, NaN)`:    func(f *Figure) { f.Panels[0].Bands[0].Points[0].High = math.NaN() },
		"logarithmic axis shows nothing":      func(f *Figure) { f.Panels[1].Series[0].Points[0].X = 0 },
		"points: a figure has at most":        func(f *Figure) { f.Panels[0].Series[0].Points = make([]Point, MaxPoints+1) },
	} {
		f := sample()
		spoil(f)
		require.ErrorContains(t, f.Render(new(bytes.Buffer)), want)
	}
}
