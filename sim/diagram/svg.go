package diagram

import (
	"fmt"
	"image/color"
	"io"
	"strings"

	"github.com/failaware/failaware/internal/svg"
)

// encode writes the scene as a document. Layers are groups, texts have fixed
// widths, and full texts are tooltips.
func (s *scene) encode(w io.Writer) error {
	out := svg.New(w, s.width, s.height, s.title, s.description)
	out.Element("rect", "", "", "class", "background", "width", svg.Number(s.width), "height", svg.Number(s.height), "fill", hex(white))
	for l, elements := range s.layers {
		if len(elements) == 0 {
			continue
		}
		out.Open("g", "class", layerNames[l])
		for i := range elements {
			elements[i].encode(out)
		}
		out.Close()
	}
	return out.End()
}

func (e *element) encode(out *svg.Writer) {
	attributes := append([]string{"class", e.class}, e.style.attributes()...)
	switch {
	case e.box != nil:
		attributes = append(attributes, "x", svg.Number(e.box.x0), "y", svg.Number(e.box.y0),
			"width", svg.Number(e.box.x1-e.box.x0), "height", svg.Number(e.box.y1-e.box.y0))
		if e.radius > 0 {
			attributes = append(attributes, "rx", svg.Number(e.radius))
		}
		out.Element("rect", e.tip, "", attributes...)
	case e.path != nil:
		out.Element("path", e.tip, "", append(attributes, "d", e.path.data())...)
	default:
		attributes = append(attributes, "x", svg.Number(e.at.x), "y", svg.Number(e.at.y), "font-size", svg.Number(e.typing.Size),
			"textLength", svg.Number(e.typing.Width(e.text)), "lengthAdjust", "spacingAndGlyphs")
		if e.typing.Bold {
			attributes = append(attributes, "font-weight", "bold")
		}
		out.Element("text", e.tip, e.text, attributes...)
	}
}

func (s *style) attributes() (a []string) {
	if s.fill.A == 0 {
		a = append(a, "fill", "none")
	} else {
		a = append(a, "fill", hex(s.fill))
		if s.fill.A < 255 {
			a = append(a, "fill-opacity", svg.Number(float64(s.fill.A)/255))
		}
	}
	if s.stroke.A == 0 {
		return a
	}
	a = append(a, "stroke", hex(s.stroke), "stroke-width", svg.Number(s.width))
	if s.stroke.A < 255 {
		a = append(a, "stroke-opacity", svg.Number(float64(s.stroke.A)/255))
	}
	if len(s.dash) > 0 {
		parts := make([]string, len(s.dash))
		for i, d := range s.dash {
			parts[i] = svg.Number(d)
		}
		a = append(a, "stroke-dasharray", strings.Join(parts, " "))
	}
	return a
}

func (p path) data() string {
	var b strings.Builder
	put := func(q point) { b.WriteString(svg.Number(q.x) + " " + svg.Number(q.y)) }
	for _, s := range p {
		b.WriteByte(byte(s.verb))
		switch s.verb {
		case curveTo:
			put(s.c1)
			b.WriteByte(' ')
			put(s.c2)
			b.WriteByte(' ')
			put(s.to)
		case moveTo, lineTo:
			put(s.to)
		}
	}
	return b.String()
}

func hex(c color.NRGBA) string { return fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B) }
