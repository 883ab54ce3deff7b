package diagram

import (
	"fmt"
	"io"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
)

// pointsPerInch makes one unit of a scene one point of the canvas, so that the
// canvas's dots per inch are the scale.
const pointsPerInch = 72

// pixels is the size of the scene as a PNG, or an error if it is too large.
func (s *scene) pixels(scale int) (w, h int, err error) {
	w, h = int(math.Ceil(s.width))*scale, int(math.Ceil(s.height))*scale
	if w*h > MaxPixels {
		return 0, 0, fmt.Errorf("diagram: Options.Width, Scale: %d × %d pixels are more than %s", w, h, count(MaxPixels))
	}
	return w, h, nil
}

func writePNG(w io.Writer, s *scene, scale int) error {
	if _, _, err := s.pixels(scale); err != nil {
		return err
	}
	c := vgimg.NewWith(
		vgimg.UseWH(vg.Length(math.Ceil(s.width)), vg.Length(math.Ceil(s.height))), vgimg.UseDPI(pointsPerInch*scale))
	d := painter{canvas: c, height: vg.Length(math.Ceil(s.height))}
	for _, elements := range s.layers {
		for i := range elements {
			d.element(&elements[i])
		}
	}
	if _, err := (vgimg.PngCanvas{Canvas: c}).WriteTo(w); err != nil {
		return fmt.Errorf("diagram: %w", err)
	}
	return nil
}

// A painter draws elements on a canvas, whose y runs upward.
type painter struct {
	canvas vg.Canvas
	height vg.Length
}

func (d *painter) point(p point) vg.Point {
	return vg.Point{X: vg.Length(p.x), Y: d.height - vg.Length(p.y)}
}

func (d *painter) element(e *element) {
	switch {
	case e.box != nil:
		var p path
		if e.radius > 0 {
			p.rounded(*e.box, e.radius)
		} else {
			b := e.box
			p.polygon(point{b.x0, b.y0}, point{b.x1, b.y0}, point{b.x1, b.y1}, point{b.x0, b.y1})
		}
		d.path(p, &e.style)
	case e.path != nil:
		d.path(e.path, &e.style)
	default:
		d.canvas.SetColor(e.style.fill)
		d.canvas.FillString(e.typing.face(), d.point(e.at), e.text)
	}
}

// path fills the whole path, but strokes it piece by piece: the rasteriser's
// time grows with the square of the strokes that one row of pixels meets.
func (d *painter) path(p path, s *style) {
	if s.fill.A > 0 {
		d.canvas.SetColor(s.fill)
		d.canvas.Fill(d.outline(p))
	}
	if s.stroke.A == 0 {
		return
	}
	dash := make([]vg.Length, len(s.dash))
	for i, l := range s.dash {
		dash[i] = vg.Length(l)
	}
	d.canvas.SetColor(s.stroke)
	d.canvas.SetLineWidth(vg.Length(s.width))
	d.canvas.SetLineDash(dash, 0)
	for len(p) > 0 {
		end := 1
		for end < len(p) && p[end].verb != moveTo {
			end++
		}
		d.canvas.Stroke(d.outline(p[:end]))
		p = p[end:]
	}
}

func (d *painter) outline(p path) (out vg.Path) {
	for _, seg := range p {
		switch seg.verb {
		case moveTo:
			out.Move(d.point(seg.to))
		case lineTo:
			out.Line(d.point(seg.to))
		case curveTo:
			out.CubeTo(d.point(seg.c1), d.point(seg.c2), d.point(seg.to))
		case closing:
			out.Close()
		}
	}
	return out
}
