package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/failaware/failaware/internal/bench"
)

// markdown writes the results as tables.
func (r *Result) markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d processes of each system, %s, file system %s; %s. It took %s.\n\n", r.Date, r.Nodes, r.Network, r.Disk, r.Machine, r.Took)
	var versions []string
	for _, name := range order {
		if v := r.Versions[name]; v != "" {
			versions = append(versions, name+" "+v)
		}
	}
	fmt.Fprintf(&b, "Versions: %s.\n\n", strings.Join(versions, ", "))
	r.leadingTable(&b)
	r.messageTable(&b)
	r.storedTable(&b)
	for _, a := range r.aims() {
		fmt.Fprintf(&b, "* %s\n", &a)
	}
	b.WriteString("\n")
	for _, name := range order {
		if why := r.Skipped[name]; why != "" {
			fmt.Fprintf(&b, "%s was skipped: %s.\n\n", name, why)
		}
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "Note: %s.\n\n", note)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// table writes rows, of which the first is the head.
func table(b *strings.Builder, rows [][]string) {
	if len(rows) < 2 {
		return
	}
	for i, row := range rows {
		fmt.Fprintf(b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			fmt.Fprintf(b, "|%s\n", strings.Repeat(" --- |", len(row)))
		}
	}
	b.WriteString("\n")
}

func (r *Result) leadingTable(b *strings.Builder) {
	rows := [][]string{{"system", "settings", "crash → next leader, p50 / p99", "→ new view, p50 / p99", "cut, healed → whole, p50", "beside 4 spinning threads",
		"idle, % of a core", "own memory, MiB"}}
	beliefs := [][]string{{"system", "settings", "stopped: another leads after, at most", "two lead", "cut off: another leads after, at most", "two lead"}}
	var settings []string
	for _, l := range r.Leading {
		row := []string{l.System, settingName(l.Tight), pair(l.Leader), pair(l.View), "–", "–", "–", "–"}
		if l.Merge != nil {
			row[4] = show(l.Merge.P50)
		}
		if l.Hog != nil {
			row[5] = fmt.Sprintf("%d changes, %d gaps in %g s", l.Hog.Changes, l.Hog.Gaps, l.Hog.Seconds)
		}
		if l.Idle != nil {
			row[6], row[7] = fmt.Sprintf("%.2f", l.Idle.CPU), fmt.Sprintf("%.0f", l.Idle.Resident)
		}
		rows = append(rows, row)
		if l.Stop != nil {
			beliefs = append(beliefs, slices.Concat([]string{l.System, settingName(l.Tight)}, l.Stop.cells(), l.Cut.cells()))
		}
		settings = append(settings, fmt.Sprintf("* %s, %s: %s\n", l.System, settingName(l.Tight), l.Settings))
	}
	table(b, rows)
	table(b, beliefs)
	b.WriteString(strings.Join(settings, "") + "\n")
}

// cells say after what time another node led, and for how long two did.
func (b *Belief) cells() []string {
	if b == nil {
		return []string{"–", "–"}
	}
	return []string{show(b.Next), b.text() + fmt.Sprintf(" (%d faults)", b.Faults)}
}

// text says for how long two led.
func (b *Belief) text() string {
	if b.Answers == 0 {
		return "never"
	}
	if b.Answers == 1 {
		return "one wrong answer"
	}
	return fmt.Sprintf("%s, %d wrong answers", show(b.Both), b.Answers)
}

func pair(s *bench.Summary) string {
	if s == nil || s.Count == 0 {
		return "–"
	}
	return show(s.P50) + " / " + show(s.P99)
}

// show writes a duration with two or three digits.
func show(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%.2f ms", float64(d)/1e6)
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/1e6)
	case d < time.Second:
		return fmt.Sprintf("%.0f ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

func (r *Result) messageTable(b *strings.Builder) {
	rows := [][]string{{"messages", "settings", "64 B: /s", "at 100/s, p50 / p99", "1 KiB: /s", "p50 / p99", "16 KiB: /s", "p50 / p99"}}
	type key struct {
		system, flavour string
		tight           bool
	}
	var keys []key
	cells := map[key]map[int]*Messages{}
	for _, m := range r.Messages {
		k := key{m.System, m.Flavour, m.Tight}
		if cells[k] == nil {
			keys, cells[k] = append(keys, k), map[int]*Messages{}
		}
		cells[k][m.Size] = m
	}
	for _, k := range keys {
		row := []string{k.system + ", " + k.flavour, settingName(k.tight)}
		for _, size := range sizes {
			m := cells[k][size]
			if m == nil {
				row = append(row, "–", "–")
				continue
			}
			latency := pair(&m.Slow)
			if m.Lost > 0 {
				latency += fmt.Sprintf(", %d lost", m.Lost)
			}
			row = append(row, rate(m.Saturated), latency)
		}
		rows = append(rows, row)
	}
	table(b, rows)
}

func settingName(tight bool) string {
	if tight {
		return "tightest"
	}
	return "default"
}

func rate(perSecond float64) string {
	switch {
	case perSecond == 0:
		return "–"
	case perSecond < 10_000:
		return fmt.Sprintf("%.0f", perSecond)
	case perSecond < 1e6:
		return fmt.Sprintf("%.0f k", perSecond/1e3)
	}
	return fmt.Sprintf("%.2f M", perSecond/1e6)
}

func (r *Result) storedTable(b *strings.Builder) {
	rows := [][]string{{"durable operations, 64 B, fsync", "clients", "/s at saturation", "callers", "p50 / p99 there", "at 100/s, p50 / p99"}}
	for _, s := range r.Stored {
		saturated := rate(s.Saturated)
		if s.Failed > 0 {
			saturated += fmt.Sprintf(", %d failed", s.Failed)
		}
		rows = append(rows, []string{s.System, s.Clients, saturated, fmt.Sprint(s.Callers), pair(&s.Busy), pair(&s.Slow)})
	}
	table(b, rows)
}
