package svg

import "strings"

// Family lists fonts that are as wide as [Font.Width] says. Every system has one
// of them.
const Family = "Helvetica Neue, Helvetica, Arial, Liberation Sans, Arimo, Nimbus Sans, sans-serif"

// Font is a size in units and a weight.
type Font struct {
	Size float64
	Bold bool
}

// Width returns the width of a text in units.
func (f Font) Width(s string) float64 {
	sum := 0
	for _, r := range s {
		sum += f.advance(r)
	}
	return float64(sum) * f.Size / 1000
}

// Ascent is the height of capitals above the baseline.
func (f Font) Ascent() float64 { return 0.75 * f.Size }

// Descent is the depth of letters below the baseline.
func (f Font) Descent() float64 { return 0.22 * f.Size }

// Fit cuts a text to a width and marks the cut with an ellipsis. It returns
// nothing if no letter fits.
func (f Font) Fit(s string, width float64) string {
	if f.Width(s) <= width {
		return s
	}
	runes := []rune(s)
	for n := len(runes) - 1; n > 0; n-- {
		if cut := strings.TrimRight(string(runes[:n]), " ") + "…"; f.Width(cut) <= width {
			return cut
		}
	}
	return ""
}

// Wrap breaks a text into at most n lines of a width. It cuts the last line if
// the text is longer.
func (f Font) Wrap(s string, width float64, n int) (lines []string) {
	words := strings.Fields(s)
	for len(words) > 0 && len(lines) < n {
		k := 1
		for k < len(words) && f.Width(strings.Join(words[:k+1], " ")) <= width {
			k++
		}
		if len(lines) == n-1 || f.Width(words[0]) > width {
			k = len(words)
		}
		if line := f.Fit(strings.Join(words[:k], " "), width); line != "" {
			lines = append(lines, line)
		}
		words = words[k:]
	}
	return lines
}

// advance returns the width of a character in thousandths of the size.
func (f Font) advance(r rune) int {
	i := 0
	if f.Bold {
		i = 1
	}
	if r >= ' ' && r <= '~' {
		return int(ascii[i][r-' '])
	}
	if w, ok := others[r]; ok {
		return w[i]
	}
	if r > 0x1100 { // most scripts with wide characters
		return 1000
	}
	return 611
}

// ascii are the widths of the characters from space to tilde in Helvetica and in
// Helvetica Bold.
var ascii = [2][95]uint16{{
	278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
	556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
	1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
	667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
	333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
	556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
}, {
	278, 333, 474, 556, 556, 889, 722, 238, 333, 333, 389, 584, 278, 333, 278, 278,
	556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 333, 333, 584, 584, 584, 611,
	975, 722, 722, 722, 722, 667, 611, 778, 722, 278, 556, 722, 611, 833, 722, 778,
	667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 333, 278, 333, 584, 556,
	333, 556, 611, 556, 611, 556, 333, 611, 611, 278, 278, 556, 278, 889, 611, 611,
	611, 611, 389, 556, 333, 611, 556, 778, 556, 556, 500, 389, 280, 389, 584,
}}

// others are the widths of further characters that pictures often have.
var others = map[rune][2]int{
	'…': {1000, 1000}, '→': {1000, 1000}, '←': {1000, 1000}, '↔': {1000, 1000}, '—': {1000, 1000},
	'·': {333, 333}, '×': {584, 584}, '−': {584, 584}, '–': {556, 556}, '±': {549, 549}, '≤': {549, 549},
	'≥': {549, 549}, '≠': {549, 549}, '√': {549, 549}, '∞': {713, 713}, '°': {400, 400}, '§': {556, 556},
	'²': {333, 333}, '½': {834, 834}, '•': {350, 350}, 'µ': {576, 576}, 'Δ': {668, 719}, 'δ': {557, 606},
	'ρ': {569, 619}, 'σ': {617, 684}, 'φ': {648, 709}, 'κ': {500, 556}, 'Ω': {748, 802},
	'“': {333, 500}, '”': {333, 500}, '‘': {222, 278}, '’': {222, 278},
}
