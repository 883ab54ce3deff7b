package lab

import (
	"fmt"
	"html"
	"io"
	"math"
	"strings"
)

// A panel is one column of the table as bars.
type panel struct {
	title string
	value func(*Row) float64
	text  func(float64) string
}

func percent(x float64) string { return fmt.Sprintf("%.2f %%", 100*x) }

var panels = []panel{
	{"share of time led", func(r *Row) float64 { return r.LedShare() }, percent},
	{"share of time with two leaders in one connected set", func(r *Row) float64 { return r.TwoShare() }, percent},
	{"time to elect, mean", func(r *Row) float64 { return r.TimeToElect().Seconds() * 1000 }, func(x float64) string { return fmt.Sprintf("%.0f ms", x) }},
	{"messages per election", func(r *Row) float64 { return r.MessagesPerElection() }, func(x float64) string { return fmt.Sprintf("%.1f", x) }},
	{"leader changes per hour", func(r *Row) float64 { return r.ChangesPerHour() }, func(x float64) string { return fmt.Sprintf("%.0f", x) }},
	{"messages per second, all", func(r *Row) float64 { return r.MessagesPerSecond() }, func(x float64) string { return fmt.Sprintf("%.0f", x) }},
}

// Sizes of a plot, in units of 1/96 inch.
const (
	plotName   = 130 // room for the name of an algorithm
	plotBar    = 190 // the longest bar
	plotValue  = 80  // room for its number
	plotLine   = 17
	plotHead   = 30
	plotAcross = 2 // panels side by side
)

// WritePlot draws rows, which are of one scenario, as an SVG picture: a panel for
// each column of the table, with a bar for each algorithm. Bars of our own election are
// darker.
func WritePlot(w io.Writer, title string, rows []Row) error {
	width := plotAcross * (plotName + plotBar + plotValue)
	panelHeight := plotHead + plotLine*len(rows) + plotLine
	height := plotHead + (len(panels)+plotAcross-1)/plotAcross*panelHeight
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">`+"\n",
		width, height, width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", width, height)
	fmt.Fprintf(&b, `<text x="8" y="20" font-size="14" font-weight="bold">%s</text>`+"\n", html.EscapeString(title))
	for i, p := range panels {
		x, y := i%plotAcross*(plotName+plotBar+plotValue), plotHead+i/plotAcross*panelHeight
		p.draw(&b, x, y, rows)
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func (p *panel) draw(b *strings.Builder, x, y int, rows []Row) {
	fmt.Fprintf(b, `<text x="%d" y="%d" font-weight="bold">%s</text>`+"\n", x+8, y+18, html.EscapeString(p.title))
	most := 0.0
	for i := range rows {
		most = math.Max(most, p.value(&rows[i]))
	}
	for i := range rows {
		r := &rows[i]
		v, line, fill := p.value(r), y+plotHead+plotLine*i, "#9db8d2"
		if strings.HasPrefix(r.Algorithm, "local") {
			fill = "#1f4e79"
		}
		length := int(math.Round(plotBar * ratio(v, most)))
		fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="end">%s</text>`, x+plotName-6, line+11, html.EscapeString(r.Algorithm))
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`, x+plotName, line+1, max(length, 1), plotLine-5, fill)
		fmt.Fprintf(b, `<text x="%d" y="%d">%s</text>`+"\n", x+plotName+length+5, line+11, html.EscapeString(p.text(v)))
	}
}
