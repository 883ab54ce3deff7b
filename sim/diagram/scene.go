package diagram

import (
	"image/color"
	"math"

	"github.com/failaware/failaware/internal/svg"
)

// A scene is a picture before it is written in a format: layers of elements,
// the lowest first. Coordinates are in units of 1/96 inch, y runs downward.
type scene struct {
	width, height      float64
	title, description string
	layers             [layerCount][]element
}

type layer int

const (
	layerLanes layer = iota
	layerGrid
	layerStalls
	layerLines // faults of the whole group
	layerMessages
	layerBars
	layerMarks
	layerViolations
	layerLabels
	layerAxis
	layerLegend
	layerHeader
	layerCount
)

var layerNames = [layerCount]string{"lanes", "grid", "stalls", "lines", "messages", "bars", "marks",
	"violations", "labels", "axis", "legend", "header"}

type point struct{ x, y float64 }

type rect struct{ x0, y0, x1, y1 float64 }

func (r rect) meets(o rect) bool { return r.x0 < o.x1 && o.x0 < r.x1 && r.y0 < o.y1 && o.y0 < r.y1 }

func (r rect) inset(by float64) rect { return r.grown(-by) }

func (r rect) grown(by float64) rect { return rect{r.x0 - by, r.y0 - by, r.x1 + by, r.y1 + by} }

// A style with a zero colour does not fill, or does not stroke.
type style struct {
	fill, stroke color.NRGBA
	width        float64
	dash         []float64
}

// An element is a box, a path, or a text: whichever is set.
type element struct {
	class string // for style sheets and tests
	tip   string // its full text
	style style

	box    *rect
	radius float64 // of the corners of the box

	path path

	text   string
	at     point // the left end of the text's baseline
	typing svg.Font
}

func (s *scene) add(l layer, e element) { s.layers[l] = append(s.layers[l], e) }

func (s *scene) box(l layer, class string, r rect, radius float64, st style, tip string) {
	s.add(l, element{class: class, tip: tip, box: &r, radius: radius, style: st})
}

func (s *scene) line(l layer, class string, a, b point, st style, tip string) {
	var p path
	p.move(a)
	p.line(b)
	s.add(l, element{class: class, tip: tip, path: p, style: st})
}

// write adds text with its left end at x.
func (s *scene) write(l layer, class string, text string, x, baseline float64, t svg.Font, ink color.NRGBA, tip string) {
	s.add(l, element{class: class, tip: tip, text: text, at: point{x, baseline}, typing: t, style: style{fill: ink}})
}

// textBox is the room that a text takes.
func textBox(text string, x, baseline float64, t svg.Font) rect {
	return rect{x, baseline - t.Ascent(), x + t.Width(text), baseline + t.Descent()}
}

// A path is made of lines and curves.
type path []segment

type verb byte

const (
	moveTo  verb = 'M'
	lineTo  verb = 'L'
	curveTo verb = 'C'
	closing verb = 'Z'
)

type segment struct {
	verb verb
	to   point
	// the control points of a curve
	c1, c2 point
}

func (p *path) move(to point) { *p = append(*p, segment{verb: moveTo, to: to}) }
func (p *path) line(to point) { *p = append(*p, segment{verb: lineTo, to: to}) }
func (p *path) close()        { *p = append(*p, segment{verb: closing}) }
func (p *path) curve(c1, c2, to point) {
	*p = append(*p, segment{verb: curveTo, c1: c1, c2: c2, to: to})
}

func (p *path) polygon(points ...point) {
	p.move(points[0])
	for _, q := range points[1:] {
		p.line(q)
	}
	p.close()
}

// quarter is how far along the tangent the control points of a cubic curve
// lie that comes close to a quarter of a unit circle.
const quarter = 0.5522847498

// rounded adds a box with round corners; a square of half its side is a circle.
func (p *path) rounded(r rect, radius float64) {
	radius = min(radius, (r.x1-r.x0)/2, (r.y1-r.y0)/2)
	k := radius * (1 - quarter)
	p.move(point{r.x0 + radius, r.y0})
	p.line(point{r.x1 - radius, r.y0})
	p.curve(point{r.x1 - k, r.y0}, point{r.x1, r.y0 + k}, point{r.x1, r.y0 + radius})
	p.line(point{r.x1, r.y1 - radius})
	p.curve(point{r.x1, r.y1 - k}, point{r.x1 - k, r.y1}, point{r.x1 - radius, r.y1})
	p.line(point{r.x0 + radius, r.y1})
	p.curve(point{r.x0 + k, r.y1}, point{r.x0, r.y1 - k}, point{r.x0, r.y1 - radius})
	p.line(point{r.x0, r.y0 + radius})
	p.curve(point{r.x0, r.y0 + k}, point{r.x0 + k, r.y0}, point{r.x0 + radius, r.y0})
	p.close()
}

// cross adds two strokes through a point.
func (p *path) cross(at point, arm float64) {
	p.move(point{at.x - arm, at.y - arm})
	p.line(point{at.x + arm, at.y + arm})
	p.move(point{at.x - arm, at.y + arm})
	p.line(point{at.x + arm, at.y - arm})
}

// hatch returns rising strokes that fill a box. They lie on one grid for the
// whole picture, so that neighbouring boxes join.
func hatch(r rect, gap float64) (p path) {
	for k := math.Ceil((r.x0 + r.y0) / gap); k*gap < r.x1+r.y1; k++ {
		sum := k * gap // x+y along the stroke
		a := point{max(r.x0, sum-r.y1), min(r.y1, sum-r.x0)}
		b := point{min(r.x1, sum-r.y0), max(r.y0, sum-r.x1)}
		p.move(a)
		p.line(b)
	}
	return p
}
