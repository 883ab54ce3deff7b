package svg

import (
	"encoding/xml"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDocumentsAreWellFormed(t *testing.T) {
	var b strings.Builder
	o := New(&b, 10, 20.5, "a < b", "c & d")
	o.Style(".x{fill:red}")
	o.Open("g", "class", `"quoted"`)
	o.Element("rect", "", "", "width", Number(1.0/3))
	o.Element("text", "tip", "x > y")
	o.Open("g")
	require.NoError(t, o.End())
	var root struct {
		Title string `xml:"title"`
		Group struct {
			Class string `xml:"class,attr"`
			Text  struct {
				Tip string `xml:"title"`
				All string `xml:",chardata"`
			} `xml:"text"`
		} `xml:"g"`
	}
	require.NoError(t, xml.Unmarshal([]byte(b.String()), &root))
	require.Equal(t, "a < b", root.Title)
	require.Equal(t, `"quoted"`, root.Group.Class)
	require.Equal(t, "tip", root.Group.Text.Tip)
	require.Equal(t, "x > y", root.Group.Text.All)
	require.Contains(t, b.String(), `viewBox="0 0 10 20.5"`)
	require.Contains(t, b.String(), `width="0.33"`)
}

type fullDisk struct{}

var errFull = errors.New("disk full")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestErrorsOfTheWriterAreReturned(t *testing.T) {
	o := New(fullDisk{}, 1, 1, "", "")
	o.Element("text", "", strings.Repeat("long ", 10000))
	require.ErrorIs(t, o.End(), errFull)
}

func TestNumbersAreShort(t *testing.T) {
	for v, want := range map[float64]string{0: "0", -0.001: "0", 1: "1", 100: "100", 1.5: "1.5", 1.005: "1", -2.346: "-2.35"} {
		require.Equal(t, want, Number(v))
	}
}

func TestWidthsOfText(t *testing.T) {
	f := Font{Size: 10}
	require.InDelta(t, 2*f.Width("M"), f.Width("MM"), 1e-9)
	require.Greater(t, f.Width("M"), 2*f.Width("i"))
	require.Greater(t, Font{Size: 10, Bold: true}.Width("node"), f.Width("node"), "bold is wider")
	require.InDelta(t, 2*f.Width("x"), Font{Size: 20}.Width("x"), 1e-9)
	require.InDelta(t, 20, f.Width("漢字"), 1e-9)
}

func TestTextsAreCutAndWrapped(t *testing.T) {
	f := Font{Size: 10}
	require.Equal(t, "short", f.Fit("short", 100))
	require.Equal(t, "much…", f.Fit("much too long", f.Width("much…")+0.1))
	require.Empty(t, f.Fit("x", 1))
	require.Equal(t, []string{"one two", "three"}, f.Wrap("one two three", f.Width("one two")+1, 3))
	lines := f.Wrap("one two three four five six", f.Width("one two")+1, 2)
	require.Len(t, lines, 2)
	require.True(t, strings.HasSuffix(lines[1], "…"), lines)
	require.Len(t, f.Wrap("unbreakableunbreakable x", 40, 3), 1)
}
