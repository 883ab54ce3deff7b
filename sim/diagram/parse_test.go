package diagram

import (
	"bytes"
	"encoding/xml"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/svg"
)

// A parsed is an element of an SVG as a viewer reads it.
type parsed struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Children []parsed   `xml:",any"`
	Text     string     `xml:",chardata"`
}

func render(t testing.TB, r *Run, o Options) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, Render(&b, r, o))
	return b.Bytes()
}

func parse(t testing.TB, r *Run, o Options) *parsed {
	t.Helper()
	var root parsed
	require.NoError(t, xml.Unmarshal(render(t, r, o), &root))
	require.Equal(t, "svg", root.XMLName.Local)
	return &root
}

func (p *parsed) attr(name string) string {
	for _, a := range p.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func (p *parsed) number(t testing.TB, name string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(p.attr(name), 64)
	require.NoError(t, err, "%s of %v", name, p.Attrs)
	return v
}

// walk calls yield with all elements below p that are drawn.
func (p *parsed) walk(yield func(*parsed)) {
	for i := range p.Children {
		c := &p.Children[i]
		switch c.XMLName.Local {
		case "g":
			c.walk(yield)
		case "rect", "path", "text":
			yield(c)
		}
	}
}

// in returns the elements of a layer that have all the classes.
func (p *parsed) in(layer, classes string) (found []*parsed) {
	for i := range p.Children {
		if g := &p.Children[i]; g.XMLName.Local == "g" && g.attr("class") == layer {
			g.walk(func(e *parsed) {
				has := " " + e.attr("class") + " "
				for c := range strings.FieldsSeq(classes) {
					if !strings.Contains(has, " "+c+" ") {
						return
					}
				}
				found = append(found, e)
			})
		}
	}
	return found
}

func (p *parsed) tip() string {
	for i := range p.Children {
		if p.Children[i].XMLName.Local == "title" {
			return p.Children[i].Text
		}
	}
	return ""
}

// points returns the points of a path, control points included.
func (p *parsed) points(t testing.TB) (points []point) {
	t.Helper()
	d := strings.NewReplacer("M", " ", "L", " ", "C", " ", "Z", " ").Replace(p.attr("d"))
	fields := strings.Fields(d)
	require.Zero(t, len(fields)%2, d)
	for i := 0; i < len(fields); i += 2 {
		x, err := strconv.ParseFloat(fields[i], 64)
		require.NoError(t, err, d)
		y, err := strconv.ParseFloat(fields[i+1], 64)
		require.NoError(t, err, d)
		points = append(points, point{x, y})
	}
	return points
}

// extent is the room that an element takes.
func (p *parsed) extent(t testing.TB) rect {
	t.Helper()
	switch p.XMLName.Local {
	case "text":
		x, y, size := p.number(t, "x"), p.number(t, "y"), svg.Font{Size: p.number(t, "font-size")}
		return rect{x, y - size.Ascent(), x + p.number(t, "textLength"), y + size.Descent()}
	case "rect":
		if p.attr("class") == "background" {
			return rect{0, 0, p.number(t, "width"), p.number(t, "height")}
		}
		x, y := p.number(t, "x"), p.number(t, "y")
		return rect{x, y, x + p.number(t, "width"), y + p.number(t, "height")}
	}
	points := p.points(t)
	require.NotEmpty(t, points)
	r := rect{points[0].x, points[0].y, points[0].x, points[0].y}
	for _, q := range points {
		r = rect{min(r.x0, q.x), min(r.y0, q.y), max(r.x1, q.x), max(r.y1, q.y)}
	}
	return r
}
