// Package figure draws measured data as lines over axes, as SVG. Figures follow
// the viewer's light or dark colour scheme.
package figure

import (
	"cmp"
	"fmt"
	"math"
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
	// Dashed distinguishes a series from another one of the same colour.
	Dashed bool
	// Colour is an index of the palette from 1 on. Series without one take the
	// colours in turn.
	Colour int
}

// Band is an area between two lines over the same positions. Bands lie behind
// the series.
type Band struct {
	Name   string // in the legend; empty: none
	Points []Span
	Colour int // an index of the palette from 1 on
}

// Span is the vertical extent of a band at a position.
type Span struct{ X, Low, High float64 }

// Panel is one picture within a figure: lines that share their axes.
type Panel struct {
	Title  string
	X, Y   string // names of the axes, with units
	LogX   bool
	LogY   bool
	Bands  []Band
	Series []Series
}

// Figure is one or more panels.
type Figure struct {
	Title  string
	Notes  []string // where the data are from: lines under the panels
	Panels []Panel
}

// Limits of a figure.
const (
	MaxPanels = 4
	MaxSeries = 32 // of a panel
	MaxPoints = 100_000
)

// Validate returns an error if the figure cannot be drawn.
func (f *Figure) Validate() error {
	if len(f.Panels) == 0 || len(f.Panels) > MaxPanels {
		return fmt.Errorf("a figure has 1 to %d panels, not %d", MaxPanels, len(f.Panels))
	}
	points := 0
	for i := range f.Panels {
		n, err := f.Panels[i].validate()
		if err != nil {
			return fmt.Errorf("panel %q: %w", f.Panels[i].Title, err)
		}
		points += n
	}
	if points > MaxPoints {
		return fmt.Errorf("%d points: a figure has at most %d", points, MaxPoints)
	}
	return nil
}

// validate returns how many points the panel has.
func (p *Panel) validate() (points int, err error) {
	if len(p.Series) == 0 || len(p.Series)+len(p.Bands) > MaxSeries {
		return 0, fmt.Errorf("1 to %d series are needed, not %d", MaxSeries, len(p.Series)+len(p.Bands))
	}
	for _, s := range p.Series {
		if len(s.Points) == 0 {
			return 0, fmt.Errorf("series %q has no points", s.Name)
		}
		for _, q := range s.Points {
			if err := p.drawable(q.X, q.Y); err != nil {
				return 0, fmt.Errorf("series %q: %w", s.Name, err)
			}
		}
		points += len(s.Points)
	}
	for _, b := range p.Bands {
		for _, q := range b.Points {
			if err := cmp.Or(p.drawable(q.X, q.Low), p.drawable(q.X, q.High)); err != nil {
				return 0, fmt.Errorf("band %q: %w", b.Name, err)
			}
		}
		points += 2 * len(b.Points)
	}
	return points, nil
}

// drawable returns an error if the panel has no place for a point.
func (p *Panel) drawable(x, y float64) error {
	if math.IsNaN(x+y) || math.IsInf(x, 0) || math.IsInf(y, 0) {
		return fmt.Errorf("the point (%v, %v) is not finite", x, y)
	}
	if p.LogX && x <= 0 || p.LogY && y <= 0 {
		return fmt.Errorf("the point (%v, %v): a logarithmic axis shows nothing at or below 0", x, y)
	}
	return nil
}
