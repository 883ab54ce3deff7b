package bench

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// Aim is a number that a benchmark should not exceed on an idle machine, or, with
// Least, should reach.
type Aim struct {
	Name  string  `json:"name"`
	Limit float64 `json:"limit"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	Least bool    `json:"least,omitempty"`
	Met   bool    `json:"met"`
}

func aim(name string, value, limit float64, unit string) Aim {
	return Aim{name, limit, value, unit, false, value <= limit}
}

func aimLeast(name string, value, limit float64, unit string) Aim {
	return Aim{name, limit, value, unit, true, value >= limit}
}

func aimMillis(name string, value, limit time.Duration) Aim {
	return aim(name, micros(value)/1000, micros(limit)/1000, "ms")
}

func (a *Aim) String() string {
	word, than := "met", "≤"
	if !a.Met {
		word = "MISSED"
	}
	if a.Least {
		than = "≥"
	}
	return fmt.Sprintf("aim: %s %s %.4g %s: %.4g, %s", a.Name, than, a.Limit, a.Unit, a.Value, word)
}

// Result is the result of a benchmark.
type Result interface {
	// Text writes the result as text.
	Text(w io.Writer) error
}

// Head is the common part of all results.
type Head struct {
	Kind     Kind    `json:"benchmark"`
	Machine  Machine `json:"machine"`
	Preset   string  `json:"preset,omitempty"`
	Keys     bool    `json:"keys,omitempty"` // packets were sealed
	Aims     []Aim   `json:"aims"`
	CutShort bool    `json:"cut_short,omitempty"` // the limit or a signal ended the benchmark early
}

// text writes a result: the machine, the setup, rows of which the first is the
// head, further lines, and the aims.
func (h *Head) text(w io.Writer, setup string, rows [][]string, more ...string) error {
	if h.Keys {
		setup += "; packets are sealed"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "machine: %s\nsetup: %s\n", h.Machine, setup)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, r := range rows {
		fmt.Fprintln(t, strings.Join(r, "\t")+"\t")
	}
	_ = t.Flush() // a strings.Builder takes everything
	if h.CutShort {
		more = append(more, "the time was up, or the benchmark interrupted, before the end")
	}
	for i := range h.Aims {
		more = append(more, h.Aims[i].String())
	}
	for _, line := range more {
		b.WriteString(line + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// summaryHead and summaryRow are the columns of a summary.
func summaryHead(first ...string) []string {
	return append(first, "count", "min", "mean", "p50", "p99", "p99.9", "max")
}

func summaryRow(s Summary, first ...string) []string {
	if s.Count == 0 {
		return append(first, "0", "-", "-", "-", "-", "-", "-")
	}
	return append(first, fmt.Sprint(s.Count), show(s.Min), show(s.Mean), show(s.P50), show(s.P99), show(s.P999), show(s.Max))
}

// show writes a duration with three or four significant digits.
func show(d time.Duration) string {
	switch {
	case d < 10*time.Microsecond:
		return fmt.Sprintf("%.2fµs", micros(d))
	case d < time.Millisecond:
		return fmt.Sprintf("%.1fµs", micros(d))
	case d < 100*time.Millisecond:
		return fmt.Sprintf("%.2fms", micros(d)/1000)
	}
	return fmt.Sprintf("%.1fms", micros(d)/1000)
}
