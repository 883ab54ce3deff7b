// Package svg writes SVG documents and estimates the width of their text.
package svg

import (
	"bufio"
	"encoding/xml"
	"io"
	"strconv"
	"strings"
)

// Writer writes one document. [Writer.End] returns the first error.
type Writer struct {
	w    *bufio.Writer
	open []string // the names of open elements
}

// New begins a document of a size in units of 1/96 inch. Viewers and screen
// readers show the title and the description.
func New(w io.Writer, width, height float64, title, description string) *Writer {
	o := &Writer{w: bufio.NewWriter(w)}
	o.raw(xml.Header)
	o.Open("svg", "xmlns", "http://www.w3.org/2000/svg", "width", Number(width), "height", Number(height),
		"viewBox", "0 0 "+Number(width)+" "+Number(height), "role", "img", "font-family", Family)
	o.Element("title", "", title)
	o.Element("desc", "", description)
	return o
}

// End closes all open elements and flushes the buffer.
func (o *Writer) End() error {
	for len(o.open) > 0 {
		o.Close()
	}
	return o.w.Flush()
}

// Style adds a style sheet.
func (o *Writer) Style(css string) { o.raw("<style>" + css + "</style>\n") }

// Open begins an element. Attributes are names and values in turn.
func (o *Writer) Open(name string, attributes ...string) {
	o.begin(name, attributes)
	o.raw(">\n")
	o.open = append(o.open, name)
}

// Close ends the element opened last.
func (o *Writer) Close() {
	last := len(o.open) - 1
	o.raw("</" + o.open[last] + ">\n")
	o.open = o.open[:last]
}

// Element writes an element with an optional tooltip and optional text.
// Attributes are names and values in turn.
func (o *Writer) Element(name, tip, text string, attributes ...string) {
	o.begin(name, attributes)
	if text == "" && tip == "" {
		o.raw("/>\n")
		return
	}
	o.raw(">")
	if tip != "" {
		o.raw("<title>")
		o.escaped(tip)
		o.raw("</title>")
	}
	o.escaped(text)
	o.raw("</" + name + ">\n")
}

func (o *Writer) begin(name string, attributes []string) {
	o.raw("<" + name)
	for i := 0; i+1 < len(attributes); i += 2 {
		o.raw(" " + attributes[i] + `="`)
		o.escaped(attributes[i+1])
		o.raw(`"`)
	}
}

func (o *Writer) raw(s string) { _, _ = o.w.WriteString(s) }

func (o *Writer) escaped(s string) { _ = xml.EscapeText(o.w, []byte(s)) }

// Number formats a coordinate with hundredths of a unit, finer than any display.
func Number(v float64) string {
	s := strings.TrimRight(strconv.FormatFloat(v, 'f', 2, 64), "0")
	if s = strings.TrimSuffix(s, "."); s == "-0" {
		return "0"
	}
	return s
}
