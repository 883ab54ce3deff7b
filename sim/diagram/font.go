package diagram

import (
	"fmt"
	"strings"
	"sync"
	"unicode"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	xfont "golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// fontFamily names first the font whose extents the layout uses, then fonts
// with the same extents, which other systems have.
const fontFamily = "Liberation Sans, Arimo, Helvetica, Arial, sans-serif"

// Only the two faces used are linked in: the whole collection has megabytes.
var typefaces = sync.OnceValue(func() [2]*opentype.Font {
	var faces [2]*opentype.Font
	for i, ttf := range [...][]byte{liberationsansregular.TTF, liberationsansbold.TTF} {
		face, err := opentype.Parse(ttf)
		if err != nil {
			panic(fmt.Sprintf("diagram: the font linked into the program: %v", err))
		}
		faces[i] = face
	}
	return faces
})

// A typeStyle is a size in units, and a weight.
type typeStyle struct {
	size float64
	bold bool
}

// The sizes of text, from the headline to notes in the lanes.
var (
	titleType    = typeStyle{size: 18, bold: true}
	subtitleType = typeStyle{size: 12.5}
	nameType     = typeStyle{size: 13.5, bold: true}
	idType       = typeStyle{size: 10.5}
	flagType     = typeStyle{size: 11.5, bold: true}
	faultType    = typeStyle{size: 11.5, bold: true}
	eventType    = typeStyle{size: 11}
	leadType     = typeStyle{size: 11, bold: true}
	viewType     = typeStyle{size: 10}
	messageType  = typeStyle{size: 10}
	tickType     = typeStyle{size: 11}
	legendType   = typeStyle{size: 11}
	noteType     = typeStyle{size: 11, bold: true}
)

func (t typeStyle) face() font.Face {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Length(t.size)}
	i := 0
	if t.bold {
		f.Weight, i = xfont.WeightBold, 1
	}
	return font.Face{Font: f, Face: typefaces()[i]}
}

// width is the extent of a text in units.
func (t typeStyle) width(s string) float64 {
	face := t.face()
	return float64(face.Width(s))
}

// Ascent and descent of Latin text without accents on capitals: what labels
// need so as not to touch, which is less than the font's line height.
func (t typeStyle) ascent() float64  { return 0.75 * t.size }
func (t typeStyle) descent() float64 { return 0.22 * t.size }

// fit cuts a text so that it is no wider than room, and says so by an ellipsis.
func (t typeStyle) fit(s string, room float64) string {
	if t.width(s) <= room {
		return s
	}
	runes := []rune(s)
	for n := len(runes) - 1; n > 0; n-- {
		if cut := strings.TrimRight(string(runes[:n]), " ") + "…"; t.width(cut) <= room {
			return cut
		}
	}
	return ""
}

// wrap breaks a text into lines no wider than room, at most n; the last is cut.
func (t typeStyle) wrap(s string, room float64, n int) (lines []string) {
	words := strings.Fields(s)
	for len(words) > 0 && len(lines) < n {
		k := 1
		for k < len(words) && t.width(strings.Join(words[:k+1], " ")) <= room {
			k++
		}
		if len(lines) == n-1 || t.width(words[0]) > room {
			k = len(words)
		}
		if line := t.fit(strings.Join(words[:k], " "), room); line != "" {
			lines = append(lines, line)
		}
		words = words[k:]
	}
	return lines
}

// clean makes any string fit for one line of text: no controls, no line
// breaks, no undue length.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	n := 0
	for i := range s {
		if n++; n > MaxLabel {
			return s[:i] + "…"
		}
	}
	return s
}
