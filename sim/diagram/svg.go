package diagram

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"image/color"
	"io"
	"strconv"
	"strings"
)

// writeSVG writes the scene as a document of its own. Layers are groups, texts
// are texts with their extent fixed, and full texts are titles, which viewers
// show as tooltips and screen readers read.
func writeSVG(w io.Writer, s *scene) error {
	out := &svgWriter{w: bufio.NewWriter(w)}
	out.raw(xml.Header)
	out.open("svg", "xmlns", "http://www.w3.org/2000/svg", "width", number(s.width), "height", number(s.height),
		"viewBox", "0 0 "+number(s.width)+" "+number(s.height), "role", "img", "font-family", fontFamily)
	out.text("title", s.title)
	out.text("desc", s.description)
	out.empty("rect", "class", "background", "width", number(s.width), "height", number(s.height), "fill", hex(white))
	for l, elements := range s.layers {
		if len(elements) == 0 {
			continue
		}
		out.open("g", "class", layerNames[l])
		for i := range elements {
			out.element(&elements[i])
		}
		out.raw("</g>\n")
	}
	out.raw("</svg>\n")
	return out.w.Flush()
}

// An svgWriter leaves errors to the final Flush, which returns the first one.
type svgWriter struct{ w *bufio.Writer }

func (o *svgWriter) raw(s string) { _, _ = o.w.WriteString(s) }

func (o *svgWriter) escaped(s string) { _ = xml.EscapeText(o.w, []byte(s)) }

func (o *svgWriter) begin(name string, attributes []string) {
	o.raw("<" + name)
	for i := 0; i+1 < len(attributes); i += 2 {
		o.raw(" " + attributes[i] + `="`)
		o.escaped(attributes[i+1])
		o.raw(`"`)
	}
}

func (o *svgWriter) open(name string, attributes ...string) {
	o.begin(name, attributes)
	o.raw(">\n")
}

func (o *svgWriter) empty(name string, attributes ...string) {
	o.begin(name, attributes)
	o.raw("/>\n")
}

func (o *svgWriter) text(name, text string) {
	o.raw("<" + name + ">")
	o.escaped(text)
	o.raw("</" + name + ">\n")
}

func (o *svgWriter) element(e *element) {
	attributes := append([]string{"class", e.class}, e.style.attributes()...)
	name, content := "path", ""
	switch {
	case e.box != nil:
		name = "rect"
		attributes = append(attributes, "x", number(e.box.x0), "y", number(e.box.y0),
			"width", number(e.box.x1-e.box.x0), "height", number(e.box.y1-e.box.y0))
		if e.radius > 0 {
			attributes = append(attributes, "rx", number(e.radius))
		}
	case e.path != nil:
		attributes = append(attributes, "d", e.path.data())
	default:
		name, content = "text", e.text
		attributes = append(attributes, "x", number(e.at.x), "y", number(e.at.y), "font-size", number(e.typing.size),
			"textLength", number(e.typing.width(e.text)), "lengthAdjust", "spacingAndGlyphs")
		if e.typing.bold {
			attributes = append(attributes, "font-weight", "bold")
		}
	}
	o.begin(name, attributes)
	if content == "" && e.tip == "" {
		o.raw("/>\n")
		return
	}
	o.raw(">")
	if e.tip != "" {
		o.raw("<title>")
		o.escaped(e.tip)
		o.raw("</title>")
	}
	o.escaped(content)
	o.raw("</" + name + ">\n")
}

func (s *style) attributes() (a []string) {
	if s.fill.A == 0 {
		a = append(a, "fill", "none")
	} else {
		a = append(a, "fill", hex(s.fill))
		if s.fill.A < 255 {
			a = append(a, "fill-opacity", number(float64(s.fill.A)/255))
		}
	}
	if s.stroke.A == 0 {
		return a
	}
	a = append(a, "stroke", hex(s.stroke), "stroke-width", number(s.width))
	if s.stroke.A < 255 {
		a = append(a, "stroke-opacity", number(float64(s.stroke.A)/255))
	}
	if len(s.dash) > 0 {
		parts := make([]string, len(s.dash))
		for i, d := range s.dash {
			parts[i] = number(d)
		}
		a = append(a, "stroke-dasharray", strings.Join(parts, " "))
	}
	return a
}

func (p path) data() string {
	var b strings.Builder
	put := func(q point) { b.WriteString(number(q.x) + " " + number(q.y)) }
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

// number writes hundredths of a unit: finer than any display.
func number(v float64) string {
	s := strings.TrimRight(strconv.FormatFloat(v, 'f', 2, 64), "0")
	if s = strings.TrimSuffix(s, "."); s == "-0" {
		return "0"
	}
	return s
}
