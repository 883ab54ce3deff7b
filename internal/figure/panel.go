package figure

import (
	"strconv"

	"github.com/failaware/failaware/internal/svg"
)

// Distances within a panel.
const (
	axisName   = 22.0 // the line with the name of the vertical axis
	tickLength = 4.0
	below      = 44.0  // ticks and the name of the horizontal axis
	tickRoom   = 72.0  // from one label of the horizontal axis to the next
	tickRise   = 38.0  // from one label of the vertical axis to the next
	headroom   = 0.06  // the share of the vertical axis above the data
	sideroom   = 0.035 // the share of the horizontal axis beside dots
)

// box is the place of a panel's axes and their labels.
type box struct{ x, y, width, bottom float64 }

// panel draws the axes and the data of a panel.
func (d *drawing) panel(p *Panel, b box) {
	top, bottom, right := b.y+axisName, b.bottom-below, b.x+b.width
	xs, ys := p.scales()
	ys.from, ys.to = bottom, top
	marks := ys.ticks(max(2, int((bottom-top)/tickRise)))
	left := b.x + widest(marks) + 2*tickLength
	xs.from, xs.to = left, right
	d.text("faint", p.Y, b.x, top-10, labelFont, "start")
	for _, t := range marks {
		at := ys.at(t.value)
		d.line("grid", left, at, right, at)
		d.text("faint", t.label, left-2*tickLength, at+0.36*tickFont.Size, tickFont, "end")
	}
	for _, t := range xs.ticks(max(2, int(b.width/tickRoom))) {
		at := xs.at(t.value)
		if t.label != "" {
			d.line("grid", at, top, at, bottom)
			d.text("faint", t.label, at, bottom+tickLength+tickFont.Size+2, tickFont, "middle")
		}
		d.line("axis", at, bottom, at, bottom+tickLength)
	}
	d.line("axis", left, bottom, right, bottom)
	d.text("faint", p.X, (left+right)/2, bottom+tickLength+2*tickFont.Size+12, labelFont, "middle")
	d.data(p, &xs, &ys)
}

// data draws bands and series.
func (d *drawing) data(p *Panel, xs, ys *scale) {
	for i := range p.Bands {
		b := &p.Bands[i]
		low, high := make([]Point, len(b.Points)), make([]Point, len(b.Points))
		for j, q := range b.Points {
			low[j] = Point{xs.at(q.X), ys.at(q.Low)}
			high[j] = Point{xs.at(q.X), ys.at(q.High)}
		}
		d.area(b, colour(b.Colour, i), low, high)
	}
	for i := range p.Series {
		s := &p.Series[i]
		at := make([]Point, len(s.Points))
		for j, q := range s.Points {
			at[j] = Point{xs.at(q.X), ys.at(q.Y)}
		}
		d.stroke(s, colour(s.Colour, i), at)
	}
}

// scales returns the axes, without their positions. Linear vertical axes include 0.
func (p *Panel) scales() (xs, ys scale) {
	x, y := newExtent(), newExtent()
	dots := false
	for i := range p.Series {
		dots = dots || p.Series[i].Dots
		for _, q := range p.Series[i].Points {
			x.add(q.X)
			y.add(q.Y)
		}
	}
	for i := range p.Bands {
		for _, q := range p.Bands[i].Points {
			x.add(q.X)
			y.add(q.Low)
			y.add(q.High)
		}
	}
	if !p.LogY {
		y.add(0)
	}
	side := 0.0
	if dots {
		side = sideroom
	}
	x = x.padded(p.LogX, side)
	roomy := y.padded(p.LogY, headroom)
	if !p.LogY && y.low == 0 && y.high > 0 {
		roomy.low = 0
	}
	return scale{low: x.low, high: x.high, log: p.LogX}, scale{low: roomy.low, high: roomy.high, log: p.LogY}
}

// widest returns the width of the widest label.
func widest(ticks []tick) (width float64) {
	for _, t := range ticks {
		width = max(width, tickFont.Width(t.label))
	}
	return width
}

// legendEntry is a name in the legend. Its upper left corner is at (x, y) within
// the legend.
type legendEntry struct {
	name   string
	colour int
	x, y   float64
	dashed bool
	dots   bool
	band   bool
}

// legend returns the entries of the legend, and how many lines they take.
func (p *Panel) legend(width float64) (entries []legendEntry, lines int) {
	x := 0.0
	add := func(e legendEntry) {
		if e.name == "" {
			return
		}
		room := swatch + 6 + legendFont.Width(e.name)
		if lines == 0 || x+room > width {
			x, lines = 0, lines+1
		}
		e.x, e.y = x, float64(lines-1)*legendLine
		entries = append(entries, e)
		x += room + 18
	}
	for i := range p.Series {
		s := &p.Series[i]
		add(legendEntry{name: s.Name, colour: colour(s.Colour, i), dashed: s.Dashed, dots: s.Dots})
	}
	for i := range p.Bands {
		add(legendEntry{name: p.Bands[i].Name, colour: colour(p.Bands[i].Colour, i), band: true})
	}
	return entries, lines
}

// entry draws an entry of a legend at (x, y).
func (d *drawing) entry(e legendEntry, x, y float64) {
	x, y = x+e.x, y+e.y
	if e.band {
		d.Element("rect", "", "", "class", "fill"+strconv.Itoa(e.colour), "fill-opacity", "0.22", "x", svg.Number(x), "y", svg.Number(y-6),
			"width", svg.Number(swatch), "height", "12")
	} else {
		d.stroke(&Series{Dashed: e.dashed}, e.colour, []Point{{x, y}, {x + swatch, y}})
	}
	if e.dots {
		d.stroke(&Series{Dots: true}, e.colour, []Point{{x + swatch/2, y}})
	}
	d.text("ink", e.name, x+swatch+6, y+0.36*legendFont.Size, legendFont, "start")
}
