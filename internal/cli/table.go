package cli

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/rivo/uniseg"
)

// columnGap is the space between two columns.
const columnGap = 2

// Table writes rows with aligned columns, as terminals show them: some characters are two
// columns wide, others none, which text/tabwriter does not know. Call Flush at its end.
type Table struct {
	w    io.Writer
	rows [][]string
}

// NewTable returns a table that writes to w.
func NewTable(w io.Writer) *Table { return &Table{w: w} }

// Row adds a row.
func (t *Table) Row(cells ...any) {
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = fmt.Sprint(c)
	}
	t.rows = append(t.rows, texts)
}

// Flush writes the rows. A column is as wide as needed by the consecutive rows that have
// another cell to its right.
func (t *Table) Flush() error {
	lines := make([]strings.Builder, len(t.rows))
	for from := 0; from < len(t.rows); {
		from = t.align(lines, from, len(t.rows), 0)
	}
	t.rows = nil
	var all strings.Builder
	for i := range lines {
		all.WriteString(lines[i].String() + "\n")
	}
	_, err := io.WriteString(t.w, all.String())
	return err
}

// align appends the cells from a column on of the row from, and of those that follow it
// before the row end while they have another cell to the right. It returns the row after.
func (t *Table) align(lines []strings.Builder, from, end, column int) int {
	further := func(i int) bool { return len(t.rows[i]) > column+1 }
	if !further(from) {
		if len(t.rows[from]) > column {
			lines[from].WriteString(t.rows[from][column])
		}
		return from + 1
	}
	after, width := from, 0
	for ; after < end && further(after); after++ {
		width = max(width, uniseg.StringWidth(t.rows[after][column]))
	}
	for i := from; i < after; i++ {
		cell := t.rows[i][column]
		lines[i].WriteString(cell + strings.Repeat(" ", width-uniseg.StringWidth(cell)+columnGap))
	}
	for i := from; i < after; {
		i = t.align(lines, i, after, column+1)
	}
	return after
}

// Brief formats a duration with three significant digits.
func Brief[D ~int64](d D) string {
	v := time.Duration(d)
	if v == 0 {
		return "0"
	}
	grain := time.Duration(math.Pow10(max(0, int(math.Log10(float64(v.Abs())))-2)))
	if v.Abs() >= time.Minute {
		grain = time.Second
	}
	return v.Round(grain).String()
}

// BriefUp formats a bound with four significant digits, rounded up.
func BriefUp[D ~int64](d D) string {
	v := time.Duration(d)
	if v <= 0 {
		return Brief(v)
	}
	grain := time.Duration(math.Pow10(max(0, int(math.Log10(float64(v)))-3)))
	return ((v + grain - 1) / grain * grain).String()
}

// YesNo formats a boolean.
func YesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// Dash returns s, or "-" for the empty string.
func Dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
