package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/failaware/failaware/internal/bench"
	"github.com/failaware/failaware/internal/figure"
)

// draw draws the main figures of all systems as bars.
func (r *Result) draw(w io.Writer) error {
	var panels []figure.BarPanel
	add := func(title string, of func(name string) (value float64, text string)) {
		p := figure.BarPanel{Title: title}
		for _, name := range order {
			value, text := of(name)
			if text == "" {
				continue // the system does not do this, or was skipped
			}
			colour := 2
			if strings.HasPrefix(name, order[0]) {
				colour = 1
			}
			p.Bars = append(p.Bars, figure.Bar{Name: name, Value: value, Text: text, Colour: colour})
		}
		panels = append(panels, p)
	}
	add("After a crash: next leader (or view), p50, tightest", func(name string) (float64, string) {
		l := r.tightest(name)
		if l == nil || l.Leader == nil && l.View == nil {
			return 0, ""
		}
		s := l.Leader
		if s == nil {
			s = l.View
		}
		return duration(s)
	})
	add("A message of 64 B to all, 100 a second, p50", func(name string) (float64, string) {
		if m := r.message(name, 64); m != nil {
			return duration(&m.Slow)
		}
		return 0, ""
	})
	for _, size := range sizes[:2] {
		add(fmt.Sprintf("Messages of %d B to all, a second", size), func(name string) (float64, string) {
			if m := r.message(name, size); m != nil {
				return m.Saturated, rate(m.Saturated)
			}
			return 0, ""
		})
	}
	add("Durable operations of 64 B, a second", func(name string) (float64, string) {
		if i := slices.IndexFunc(r.Stored, func(s *Stored) bool { return s.System == name }); i >= 0 {
			return r.Stored[i].Saturated, rate(r.Stored[i].Saturated)
		}
		return 0, ""
	})
	add("Idle: % of a core, tightest", func(name string) (float64, string) {
		if l := r.tightest(name); l != nil && l.Idle != nil {
			return l.Idle.CPU, fmt.Sprintf("%.2f", l.Idle.CPU)
		}
		return 0, ""
	})
	title := fmt.Sprintf("%d processes of each system in one run, %s", r.Nodes, r.Date)
	return figure.RenderBars(w, title, panels)
}

func duration(s *bench.Summary) (float64, string) { return float64(s.P50), show(s.P50) }

// tightest returns what a system did with its tightest settings, or nil if it has only
// defaults: those of NATS would make all other bars look alike.
func (r *Result) tightest(name string) (last *Leading) {
	for _, l := range r.Leading {
		if l.System == name && l.Tight {
			last = l
		}
	}
	return last
}

// message returns the first kind of messages of a system, with its tightest settings.
func (r *Result) message(name string, size int) (last *Messages) {
	for _, m := range r.Messages {
		if m.System == name && m.Size == size && m.Flavour == systems[name].flavours[0] {
			last = m
		}
	}
	return last
}
