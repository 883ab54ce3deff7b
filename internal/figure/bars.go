package figure

import (
	"io"
	"strconv"

	"github.com/failaware/failaware/internal/svg"
)

// BarPanel compares one quantity by horizontal bars that begin at 0.
type BarPanel struct {
	Title string
	Bars  []Bar
}

// Bar is one bar with its name to the left and its value as text to the right.
type Bar struct {
	Name   string
	Value  float64 // not below 0
	Text   string
	Colour int // an index of the palette from 1 on
}

// Lengths of bars, in units of 1/96 inch.
const (
	barsAcross = 2 // panels side by side
	barName    = 130.0
	barLongest = 210.0
	barValue   = 80.0
	barLine    = 20.0
	barHead    = 34.0
)

// RenderBars writes panels of bars as SVG. All panels have the same number of bars.
func RenderBars(w io.Writer, title string, panels []BarPanel) error {
	across := barName + barLongest + barValue
	rows := (len(panels) + barsAcross - 1) / barsAcross
	height := 0.0
	for i := range panels {
		height = max(height, barHead+barLine*float64(len(panels[i].Bars)+1))
	}
	top := margin + titleFont.Size + 8
	full := 2*margin + barsAcross*across
	d := &drawing{svg.New(w, full, top+float64(rows)*height+margin/2, title, "")}
	d.Style(css)
	d.Element("rect", "", "", "class", "paper", "width", svg.Number(full), "height", svg.Number(top+float64(rows)*height+margin/2))
	d.text("ink", title, margin, margin+titleFont.Ascent(), titleFont, "start")
	for i := range panels {
		d.bars(&panels[i], margin+float64(i%barsAcross)*across, top+float64(i/barsAcross)*height)
	}
	return d.End()
}

func (d *drawing) bars(p *BarPanel, x, y float64) {
	d.text("ink", p.Title, x, y+barHead-14, panelFont, "start")
	most := 0.0
	for i := range p.Bars {
		most = max(most, p.Bars[i].Value)
	}
	for i := range p.Bars {
		b := &p.Bars[i]
		line := y + barHead + float64(i)*barLine
		length := 1.0
		if most > 0 {
			length = max(length, barLongest*b.Value/most)
		}
		d.text("ink", b.Name, x+barName-8, line+10, legendFont, "end")
		d.Element("rect", b.Name+": "+b.Text, "", "class", "fill"+strconv.Itoa(colour(b.Colour, 0)), "x", svg.Number(x+barName), "y", svg.Number(line),
			"width", svg.Number(length), "height", "13", "rx", "2")
		d.text("faint", b.Text, x+barName+length+6, line+10, legendFont, "start")
	}
}
