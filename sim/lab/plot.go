package lab

import (
	"fmt"
	"io"
	"strings"

	"github.com/failaware/failaware/internal/figure"
)

// A panel is one column of the table as bars.
type panel struct {
	title string
	value func(*Row) float64
	text  func(float64) string
}

func percent(x float64) string { return fmt.Sprintf("%.2f %%", 100*x) }

var panels = []panel{
	{"share of time led", (*Row).LedShare, percent},
	{"share of time with two leaders in one connected set", (*Row).TwoShare, percent},
	{"time to elect, mean", func(r *Row) float64 { return r.TimeToElect().Seconds() * 1000 }, func(x float64) string { return fmt.Sprintf("%.0f ms", x) }},
	{"messages per election", (*Row).MessagesPerElection, func(x float64) string { return fmt.Sprintf("%.1f", x) }},
	{"leader changes per hour", (*Row).ChangesPerHour, func(x float64) string { return fmt.Sprintf("%.0f", x) }},
	{"messages per second, all", (*Row).MessagesPerSecond, func(x float64) string { return fmt.Sprintf("%.0f", x) }},
}

// The colours of bars: our own election stands out.
const (
	textbookColour = 6
	ownColour      = 1
)

// WritePlot draws rows, which are of one scenario, as an SVG picture: a panel for
// each column of the table, with a bar for each algorithm.
func WritePlot(w io.Writer, title string, rows []Row) error {
	var all []figure.BarPanel
	for _, p := range panels {
		b := figure.BarPanel{Title: p.title}
		for i := range rows {
			v, colour := p.value(&rows[i]), textbookColour
			if strings.HasPrefix(rows[i].Algorithm, "local") {
				colour = ownColour
			}
			b.Bars = append(b.Bars, figure.Bar{Name: rows[i].Algorithm, Value: v, Text: p.text(v), Colour: colour})
		}
		all = append(all, b)
	}
	return figure.RenderBars(w, title, all)
}
