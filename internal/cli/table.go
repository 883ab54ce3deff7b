package cli

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
	"time"
)

// Table writes rows with aligned columns. Call Flush at its end.
type Table struct{ *tabwriter.Writer }

// NewTable returns a table that writes to w.
func NewTable(w io.Writer) Table { return Table{tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)} }

// Row adds a row; Flush returns its errors.
func (t Table) Row(cells ...any) {
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = fmt.Sprint(c)
	}
	_, _ = fmt.Fprintln(t, strings.Join(texts, "\t"))
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
