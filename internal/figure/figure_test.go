package figure

import (
	"bytes"
	"encoding/xml"
	"image/png"
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
		{Title: "left", X: "across (ms)", Y: "up (µs)", Series: []Series{line("alpha"), {Name: "beta", Points: []Point{{1, 1}, {3, 9}}, Steps: true, Dashed: true}}},
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

func TestFigureSaysWhatItShows(t *testing.T) {
	var svg, again bytes.Buffer
	require.NoError(t, sample().Render(&svg, ".svg"))
	words := textOf(t, svg.Bytes())
	for _, w := range []string{"Title of it", "first note", "second note", "left", "right", "across (ms)", "up (µs)", "alpha", "beta", "gamma"} {
		require.Contains(t, words, w)
	}
	require.NoError(t, sample().Render(&again, ".svg"))
	require.Equal(t, svg.String(), again.String(), "two pictures of one figure")
}

func TestFigureAsPNG(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, sample().Render(&b, ".png"))
	img, err := png.Decode(&b)
	require.NoError(t, err)
	require.Greater(t, img.Bounds().Dx(), 2*img.Bounds().Dy(), "two panels stand side by side")
}

func TestWhatCannotBeDrawn(t *testing.T) {
	for want, spoil := range map[string]func(*Figure){
		"1 to 4 panels":                         func(f *Figure) { f.Panels = nil },
		`panel "left": 1 to 32 series`:          func(f *Figure) { f.Panels[0].Series = nil },
		`series "alpha" has no points`:          func(f *Figure) { f.Panels[0].Series[0].Points = nil },
		`series "alpha" has a point that is no`: func(f *Figure) { f.Panels[0].Series[0].Points[1].Y = math.Inf(1) },
		"logarithmic axis shows nothing":        func(f *Figure) { f.Panels[1].Series[0].Points[0].X = 0 },
		"points: a figure has at most":          func(f *Figure) { f.Panels[0].Series[0].Points = make([]Point, MaxPoints+1) },
	} {
		f := sample()
		spoil(f)
		require.ErrorContains(t, f.Render(new(bytes.Buffer), ".svg"), want)
	}
	require.ErrorContains(t, sample().Render(new(bytes.Buffer), ".gif"), ".svg or .png")
}
