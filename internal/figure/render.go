package figure

import (
	"io"
	"strconv"
	"strings"

	"github.com/failaware/failaware/internal/svg"
)

// Lengths, in units of 1/96 inch.
const (
	oneWide, manyWide = 720.0, 1040.0 // the width of a figure of one panel, and of several
	inRow             = 3             // panels side by side at most
	panelHeight       = 350.0         // with the gap to the panel below
	margin            = 24.0
	gutter            = 40.0 // between panels side by side
	noteLine          = 16.0
	legendLine        = 18.0
	swatch            = 22.0
	maxNoteLines      = 4
)

// Render writes the figure as SVG. The same figure gives the same bytes.
func (f *Figure) Render(w io.Writer) error {
	if err := f.Validate(); err != nil {
		return err
	}
	columns, width := f.columns()
	rows := (len(f.Panels) + columns - 1) / columns
	var notes []string
	for _, n := range f.Notes {
		notes = append(notes, noteFont.Wrap(n, width-2*margin, maxNoteLines)...)
	}
	top := margin + titleFont.Size + 14
	bottom := top + float64(rows)*panelHeight
	height := bottom + float64(len(notes))*noteLine + margin/2
	d := &drawing{svg.New(w, width, height, f.Title, strings.Join(f.Notes, ". "))}
	d.Style(css)
	d.Element("rect", "", "", "class", "paper", "width", svg.Number(width), "height", svg.Number(height))
	d.text("ink", f.Title, margin, margin+titleFont.Ascent(), titleFont, "start")
	each := (width - 2*margin - gutter*float64(columns-1)) / float64(columns)
	for i := 0; i < len(f.Panels); i += columns {
		d.row(f.Panels[i:min(i+columns, len(f.Panels))], top+float64(i/columns)*panelHeight, each)
	}
	for i, n := range notes {
		d.text("faint", n, margin, bottom+float64(i+1)*noteLine, noteFont, "start")
	}
	return d.End()
}

// columns returns how many panels stand side by side, and how wide the figure is.
func (f *Figure) columns() (columns int, width float64) {
	switch n := len(f.Panels); {
	case n == 1:
		return 1, oneWide
	case n > inRow:
		return 2, manyWide
	default:
		return n, manyWide
	}
}

// row draws panels side by side. Their axes align. If only the first has a
// legend, that extends over all of them.
func (d *drawing) row(panels []Panel, y, width float64) {
	titled, named := false, 0
	for i := range panels {
		titled = titled || panels[i].Title != ""
		if entries, _ := panels[i].legend(width); len(entries) > 0 {
			named = i + 1
		}
	}
	legendWidth := width
	if named == 1 {
		legendWidth += float64(len(panels)-1) * (width + gutter)
	}
	box := box{y: y + margin/2, width: width, bottom: y + panelHeight - 10}
	if titled {
		box.y += panelFont.Size + 8
	}
	lines := 0
	for i := range panels {
		x := margin + float64(i)*(width+gutter)
		d.text("ink", panelFont.Fit(panels[i].Title, width), x, y+panelFont.Ascent(), panelFont, "start")
		entries, n := panels[i].legend(legendWidth)
		for _, e := range entries {
			d.entry(e, x, box.y)
		}
		lines = max(lines, n)
	}
	box.y += float64(lines) * legendLine
	for i := range panels {
		box.x = margin + float64(i)*(width+gutter)
		d.panel(&panels[i], box)
	}
}

// drawing extends the writer for figures.
type drawing struct{ *svg.Writer }

// text writes a text whose anchor (start, middle or end) is at a point.
func (d *drawing) text(class, text string, x, y float64, f svg.Font, anchor string) {
	if text == "" {
		return
	}
	attributes := []string{"class", class, "x", svg.Number(x), "y", svg.Number(y), "font-size", svg.Number(f.Size)}
	if anchor != "start" {
		attributes = append(attributes, "text-anchor", anchor)
	}
	if f.Bold {
		attributes = append(attributes, "font-weight", "bold")
	}
	d.Element("text", "", text, attributes...)
}

// line draws a straight line.
func (d *drawing) line(class string, x1, y1, x2, y2 float64) {
	d.Element("line", "", "", "class", class, "x1", svg.Number(x1), "y1", svg.Number(y1), "x2", svg.Number(x2), "y2", svg.Number(y2))
}

// stroke draws the line of a series through positions.
func (d *drawing) stroke(s *Series, colour int, at []Point) {
	var path strings.Builder
	for i, p := range at {
		switch {
		case i == 0:
			path.WriteString("M")
		case s.Steps:
			path.WriteString("H" + svg.Number(p.X) + "V" + svg.Number(p.Y))
			continue
		default:
			path.WriteString("L")
		}
		path.WriteString(svg.Number(p.X) + " " + svg.Number(p.Y))
	}
	attributes := []string{"class", "line" + strconv.Itoa(colour), "stroke-width", lineWidth(len(at)), "stroke-linejoin", "round", "d", path.String()}
	if s.Dashed {
		attributes = append(attributes, "stroke-dasharray", "5 4")
	}
	d.Element("path", s.Name, "", attributes...)
	if !s.Dots {
		return
	}
	for _, p := range at {
		d.Element("circle", "", "", "class", "fill"+strconv.Itoa(colour), "cx", svg.Number(p.X), "cy", svg.Number(p.Y), "r", "3")
	}
}

// lineWidth returns the width of a line, which is thinner with many points.
func lineWidth(points int) string {
	if points > 250 {
		return "1.1"
	}
	return "1.75"
}

// area fills a band between its lower and its upper positions.
func (d *drawing) area(b *Band, colour int, low, high []Point) {
	var path strings.Builder
	verb := "M"
	put := func(p Point) {
		path.WriteString(verb + svg.Number(p.X) + " " + svg.Number(p.Y))
		verb = "L"
	}
	for _, p := range high {
		put(p)
	}
	for i := len(low) - 1; i >= 0; i-- {
		put(low[i])
	}
	d.Element("path", b.Name, "", "class", "fill"+strconv.Itoa(colour), "fill-opacity", "0.22", "d", path.String()+"Z")
}
