package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// writeJSON prints a value as json or ndjson; done is false for tables.
func writeJSON(w io.Writer, f format, v any) (done bool, err error) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	switch f {
	case "json":
		enc.SetIndent("", "  ")
	case "ndjson":
	default:
		return false, nil
	}
	return true, enc.Encode(v)
}

// table prints rows in columns.
type table struct{ *tabwriter.Writer }

func newTable(w io.Writer) table { return table{tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)} }

func (t table) row(cells ...any) {
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = fmt.Sprint(c)
	}
	_, _ = fmt.Fprintln(t, strings.Join(texts, "\t"))
}

// brief rounds a duration to three digits that count.
func brief(ns int64) string {
	d := time.Duration(ns)
	if d == 0 {
		return "0"
	}
	grain := time.Duration(math.Pow10(max(0, int(math.Log10(float64(d.Abs())))-2)))
	if d.Abs() >= time.Minute {
		grain = time.Second
	}
	return d.Round(grain).String()
}

// briefUp is as brief, for bounds: it never shows less.
func briefUp(ns int64) string {
	d := time.Duration(ns)
	if d <= 0 {
		return brief(ns)
	}
	grain := time.Duration(math.Pow10(max(0, int(math.Log10(float64(d)))-3)))
	return ((d + grain - 1) / grain * grain).String()
}

// orUnknown prints a duration that may not be known.
func orUnknown(ns *int64) string {
	if ns == nil {
		return "unknown"
	}
	return briefUp(*ns)
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// setText prints ids as sets are printed.
func setText(ids []int) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = strconv.Itoa(id)
	}
	return "{" + strings.Join(texts, " ") + "}"
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
