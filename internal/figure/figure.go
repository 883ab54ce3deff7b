// Package figure draws measured data as lines over axes, as SVG or PNG. What the
// lines mean is for the callers to know; the looks are the same for all figures of
// the project.
package figure

import (
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Point is a point of a series.
type Point struct{ X, Y float64 }

// Series is one line.
type Series struct {
	Name   string // in the legend; empty: none
	Points []Point
	// Steps draws the line as a staircase: each point is the beginning of a bin.
	Steps bool
	// Dots marks the points, for series of few.
	Dots bool
	// Dashed tells a series from another one of the same colour.
	Dashed bool
	// Colour is an index of the palette; series without one take their turn.
	Colour int
}

// Panel is one picture within a figure: lines that share their axes.
type Panel struct {
	Title  string
	X, Y   string // what the axes show, with units
	LogX   bool
	LogY   bool
	Rises  bool // the lines end high: their names go to the left
	Series []Series
}

// Figure is one or more panels side by side.
type Figure struct {
	Title  string
	Notes  []string // where the data are from: lines under the panels
	Panels []Panel
}

// Limits of a figure.
const (
	MaxPanels = 4
	MaxSeries = 32
	MaxPoints = 100_000 // in all
)

// Validate returns an error if the figure cannot be drawn.
func (f *Figure) Validate() error {
	if len(f.Panels) == 0 || len(f.Panels) > MaxPanels {
		return fmt.Errorf("a figure has 1 to %d panels, not %d", MaxPanels, len(f.Panels))
	}
	points := 0
	for i := range f.Panels {
		p := &f.Panels[i]
		if len(p.Series) == 0 || len(p.Series) > MaxSeries {
			return fmt.Errorf("panel %q: 1 to %d series are needed, not %d", p.Title, MaxSeries, len(p.Series))
		}
		for _, s := range p.Series {
			if len(s.Points) == 0 {
				return fmt.Errorf("panel %q: series %q has no points", p.Title, s.Name)
			}
			points += len(s.Points)
			for _, q := range s.Points {
				if math.IsNaN(q.X+q.Y) || math.IsInf(q.X+q.Y, 0) {
					return fmt.Errorf("panel %q: series %q has a point that is no number", p.Title, s.Name)
				}
				if p.LogX && q.X <= 0 || p.LogY && q.Y <= 0 {
					return fmt.Errorf("panel %q: series %q: a logarithmic axis shows nothing at or below 0", p.Title, s.Name)
				}
			}
		}
	}
	if points > MaxPoints {
		return fmt.Errorf("%d points: a figure has at most %d", points, MaxPoints)
	}
	return nil
}

// Sizes of a panel, and of the text.
const (
	panelWidth  = 16 * vg.Centimeter
	panelHeight = 9.5 * vg.Centimeter
	noteHeight  = 0.45 * vg.Centimeter // a line of it
	headHeight  = 1 * vg.Centimeter
	margin      = 0.5 * vg.Centimeter
	// headroom is the share of the axis that is left above the data for the legend.
	headroom = 0.08
	pngDPI   = 120
)

// Render draws the figure in a format, ".svg" or ".png". The same figure gives
// the same bytes.
func (f *Figure) Render(w io.Writer, format string) error {
	if err := f.Validate(); err != nil {
		return err
	}
	width := panelWidth * vg.Length(len(f.Panels))
	foot := noteHeight*vg.Length(len(f.Notes)) + margin
	height := panelHeight + headHeight + foot
	var canvas interface {
		vg.CanvasSizer
		io.WriterTo
	}
	switch format {
	case ".svg":
		canvas = vgsvg.New(width, height)
	case ".png":
		canvas = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(pngDPI))}
	default:
		return errors.New("a figure is .svg or .png, not " + format)
	}
	c := draw.New(canvas)
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	f.words(c)
	for i := range f.Panels {
		p, err := f.Panels[i].plot()
		if err != nil {
			return err
		}
		left := panelWidth * vg.Length(i)
		p.Draw(draw.Crop(c, left+margin, left+panelWidth-width-margin, foot, -headHeight))
	}
	_, err := canvas.WriteTo(w)
	return err
}

// words writes the title above the panels and the notes below.
func (f *Figure) words(c draw.Canvas) {
	c.FillText(style(13, ink), vg.Point{X: c.Min.X + margin, Y: c.Max.Y - 0.7*vg.Centimeter}, f.Title)
	for i, line := range f.Notes {
		c.FillText(style(8, faint), vg.Point{X: c.Min.X + margin, Y: c.Min.Y + margin/2 + noteHeight*vg.Length(len(f.Notes)-1-i)}, line)
	}
}

// style is the project's way to write.
func style(size font.Length, ink color.Color) draw.TextStyle {
	f := font.From(plot.DefaultFont, size)
	f.Variant = "Sans"
	return draw.TextStyle{Color: ink, Font: f, Handler: plot.DefaultTextHandler}
}

var (
	ink   = color.NRGBA{0x1D, 0x25, 0x30, 0xFF}
	faint = color.NRGBA{0x5A, 0x64, 0x72, 0xFF}
	grid  = color.NRGBA{0xE0, 0xE4, 0xE9, 0xFF}
)

// palette is told apart by lightness as well as by hue.
var palette = []color.NRGBA{
	{0x1B, 0x4F, 0x8F, 0xFF}, {0xE0, 0x7B, 0x00, 0xFF}, {0x0E, 0x7C, 0x66, 0xFF}, {0x8A, 0x3B, 0x9C, 0xFF},
	{0xB0, 0x24, 0x3B, 0xFF}, {0x3E, 0xA0, 0xD8, 0xFF}, {0x6E, 0x62, 0x1B, 0xFF}, {0x2B, 0x2F, 0x38, 0xFF},
}

// plot makes a panel's plot.
func (pn *Panel) plot() (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = pn.Title, pn.X, pn.Y
	p.X.Padding, p.Y.Padding = 4, 4
	p.X.Tick.Marker, p.Y.Tick.Marker = plainTicks{}, plainTicks{}
	p.Legend.Left = pn.Rises
	p.Legend.Top, p.Legend.Padding, p.Legend.ThumbnailWidth = true, 2, 18
	for text, size := range map[*draw.TextStyle]font.Length{&p.Title.TextStyle: 10, &p.Legend.TextStyle: 8,
		&p.X.Label.TextStyle: 9, &p.Y.Label.TextStyle: 9, &p.X.Tick.Label: 8, &p.Y.Tick.Label: 8} {
		text.Font, text.Color = style(size, ink).Font, ink
	}
	if pn.LogX {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	if pn.LogY {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	g := plotter.NewGrid()
	g.Vertical.Color, g.Horizontal.Color = grid, grid
	p.Add(g)
	for i := range pn.Series {
		s := &pn.Series[i]
		if err := s.add(p, i); err != nil {
			return nil, fmt.Errorf("panel %q: series %q: %w", pn.Title, s.Name, err)
		}
	}
	room := headroom * float64(pn.named()) / 2
	if pn.LogY {
		p.Y.Max *= math.Pow(p.Y.Max/p.Y.Min, room)
	} else {
		p.Y.Min = math.Min(p.Y.Min, 0)
		p.Y.Max += room * (p.Y.Max - p.Y.Min)
	}
	return p, nil
}

// named returns how many series the legend names.
func (pn *Panel) named() (n int) {
	for i := range pn.Series {
		if pn.Series[i].Name != "" {
			n++
		}
	}
	return n
}

// plainTicks are the usual ticks with numbers as people write them.
type plainTicks struct{}

// Ticks implements [plot.Ticker].
func (plainTicks) Ticks(low, high float64) []plot.Tick {
	ticks := plot.DefaultTicks{}.Ticks(low, high)
	for i := range ticks {
		if ticks[i].Label != "" {
			ticks[i].Label = strconv.FormatFloat(ticks[i].Value, 'f', -1, 64)
		}
	}
	return ticks
}

// add draws a series and names it in the legend.
func (s *Series) add(p *plot.Plot, turn int) error {
	xys := make(plotter.XYs, len(s.Points))
	for i, q := range s.Points {
		xys[i] = plotter.XY{X: q.X, Y: q.Y}
	}
	line, err := plotter.NewLine(xys)
	if err != nil {
		return err
	}
	c := turn
	if s.Colour > 0 {
		c = s.Colour - 1
	}
	line.Color, line.Width = palette[c%len(palette)], 1.3
	if s.Steps {
		line.StepStyle = plotter.PostStep
	}
	if s.Dashed {
		line.Dashes = []vg.Length{4, 3}
	}
	p.Add(line)
	if !s.Dots {
		if s.Name != "" {
			p.Legend.Add(s.Name, line)
		}
		return nil
	}
	dots, err := plotter.NewScatter(xys)
	if err != nil {
		return err
	}
	dots.Color, dots.Shape, dots.Radius = line.Color, draw.CircleGlyph{}, 2.2
	p.Add(dots)
	if s.Name != "" {
		p.Legend.Add(s.Name, line, dots)
	}
	return nil
}
