package demo

import "unicode/utf8"

// Canvas is a picture of character cells, as on a terminal.
type Canvas struct {
	Width, Height int
	cells         []Cell
}

// Cell is one character of a picture.
type Cell struct {
	Rune  rune
	Style Style
}

// Style is the look of a cell. A style states a meaning. The terminal chooses the
// colours, and the picture is readable without them.
type Style struct {
	Tone   Tone
	Bold   bool
	Filled bool // the tone is the background
}

// Tone is the meaning of a cell.
type Tone uint8

// The tones. Those from Group on are for partitions.
const (
	Normal Tone = iota
	Quiet
	Good
	Warn
	Bad
	Accent
	Group
)

// Groups is the number of tones for partitions.
const Groups = 6

// NewCanvas returns an empty picture.
func NewCanvas(width, height int) *Canvas {
	c := &Canvas{Width: max(width, 0), Height: max(height, 0)}
	c.cells = make([]Cell, c.Width*c.Height)
	for i := range c.cells {
		c.cells[i].Rune = ' '
	}
	return c
}

// At returns a cell of the picture.
func (c *Canvas) At(x, y int) Cell { return c.cells[y*c.Width+x] }

// Put writes text from a cell on, as far as it fits, and returns the column after it.
func (c *Canvas) Put(x, y int, s Style, text string) int {
	for _, r := range text {
		if y >= 0 && y < c.Height && x >= 0 && x < c.Width {
			c.cells[y*c.Width+x] = Cell{r, s}
		}
		x++
	}
	return x
}

// PutIn writes text into a field. It marks text that is too long as cut off.
func (c *Canvas) PutIn(x, y, width int, s Style, text string) {
	c.Put(x, y, s, clip(text, min(width, c.Width-x)))
}

// PutRight writes text that ends before a column.
func (c *Canvas) PutRight(x, y int, s Style, text string) {
	c.Put(x-utf8.RuneCountInString(text), y, s, text)
}

// Fill gives a part of a row a style.
func (c *Canvas) Fill(x, y, width int, s Style) {
	for ; width > 0 && x < c.Width && y < c.Height; x, width = x+1, width-1 {
		c.cells[y*c.Width+x] = Cell{' ', s}
	}
}

// clip shortens text to a width.
func clip(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	if width < 1 {
		return ""
	}
	return string([]rune(text)[:width-1]) + "…"
}
