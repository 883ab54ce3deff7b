package main

import (
	"errors"
	"slices"
	"time"

	"github.com/failaware/failaware/internal/bench"
)

// Messages is what messages of a system do from one sender to all applications.
type Messages struct {
	System  string `json:"system"`
	Tight   bool   `json:"tight"`
	Flavour string `json:"flavour"`
	Size    int    `json:"bytes"`
	// Saturated is how many messages a second the application of the slowest member
	// got; 0 if it was not measured.
	Saturated float64 `json:"messages_per_second,omitempty"`
	// Slow is the time from sending until the last application has a message, at 100
	// messages a second.
	Slow bench.Summary `json:"latency_at_100_per_second"`
	// Lost is how many of those did not come to all.
	Lost int `json:"lost,omitempty"`
}

// Stored is what durable operations do.
type Stored struct {
	System    string        `json:"system"`
	Clients   string        `json:"clients"`
	Size      int           `json:"bytes"`
	Callers   int           `json:"callers"` // that gave the most operations
	Saturated float64       `json:"operations_per_second"`
	Busy      bench.Summary `json:"latency_at_saturation"`
	Slow      bench.Summary `json:"latency_at_100_per_second"`
	Failed    int           `json:"failed,omitempty"` // operations, at saturation by so many callers
	Why       string        `json:"failed_because,omitempty"`
}

const slowRate = 100 // messages or operations a second

var sizes = []int{64, 1 << 10, 16 << 10}

// load has all children take part in a run that is measured for some time.
func (g *group) load(do action, r run, length time.Duration) ([]*count, error) {
	const untilAllKnow, warm = int64(50 * time.Millisecond), 5
	r.Begin = now() + untilAllKnow
	r.Measured = r.Begin + int64(length)/warm
	r.End = r.Measured + int64(length)
	answers, err := g.askAll(func(id int) command {
		mine := r
		if r.Sender != 0 && r.Sender != id {
			mine.Callers = 0
		}
		return command{Do: do, Run: &mine}
	}, 3*length+20*drain)
	var counts []*count
	for _, a := range answers {
		counts = append(counts, a.Count)
	}
	return counts, err
}

// messages measures messages of one flavour and size.
func (g *group) messages(o *options, flavour string, size int, number *uint32) (*Messages, error) {
	m := &Messages{System: g.sys.name, Tight: g.tight, Flavour: flavour, Size: size}
	r := run{Sender: g.leader(), Size: size, Flavour: flavour}
	next := func() run {
		*number++
		r.Number = *number
		return r
	}
	r.Rate = slowRate
	counts, err := g.load(doMessages, next(), o.slow)
	if err != nil {
		return nil, err
	}
	m.Slow, m.Lost = together(counts)
	if r.Rate = 0; g.tight || !g.sys.paced {
		if counts, err = g.load(doMessages, next(), o.saturated); err != nil {
			return nil, err
		}
		m.Saturated = -1
		for _, c := range counts {
			if each := float64(c.Messages) / c.Took.Seconds(); m.Saturated < 0 || each < m.Saturated {
				m.Saturated = each
			}
		}
		time.Sleep(o.rest) // what still waits must not count in the next run
	}
	o.progress("%s, %s, %d bytes: %.0f messages/s; at %d/s p50 %v, p99 %v", o.name(g), flavour, size, m.Saturated, slowRate,
		m.Slow.P50.Round(10*time.Microsecond), m.Slow.P99.Round(10*time.Microsecond))
	return m, nil
}

// together returns the times until the last application had a message, and how many did
// not come to all.
func together(counts []*count) (bench.Summary, int) {
	type way struct {
		nodes int
		took  time.Duration
	}
	ways := map[uint32]way{}
	for _, c := range counts {
		for _, t := range c.Traces {
			w := ways[t.Number]
			ways[t.Number] = way{w.nodes + 1, max(w.took, time.Duration(t.Had-t.Sent))}
		}
	}
	var all []time.Duration
	lost := 0
	for _, w := range ways {
		if w.nodes < len(counts) {
			lost++
			continue
		}
		all = append(all, w.took)
	}
	return bench.Summarize(all), lost
}

// stored measures durable operations.
func (g *group) stored(o *options) (*Stored, error) {
	const size = 64
	s := &Stored{System: g.sys.name, Clients: g.sys.storing, Size: size}
	r := run{Size: size, Callers: 1, Rate: slowRate, Sender: g.leader()}
	counts, err := g.load(doStore, r, o.slow)
	if err != nil {
		return nil, err
	}
	if s.Slow, _ = acknowledged(counts); s.Slow.Count == 0 {
		return nil, errors.New("nothing was acknowledged: " + counts[r.Sender-1].Why)
	}
	r.Rate = 0
	for _, callers := range o.callers {
		r.Callers, r.Sender = callers, g.leader()
		if g.sys.anySender {
			r.Callers, r.Sender = callers/g.count(), 0
		}
		counts, err := g.load(doStore, r, o.saturated)
		if err != nil {
			return nil, err
		}
		busy, rate := acknowledged(counts)
		o.progress("%s, %d callers: %.0f durable operations/s, p50 %v", o.name(g), callers, rate, busy.P50.Round(10*time.Microsecond))
		if rate > s.Saturated {
			s.Saturated, s.Busy, s.Callers, s.Failed = rate, busy, callers, 0
			for _, c := range counts {
				if c.Failed > 0 {
					s.Failed, s.Why = s.Failed+c.Failed, c.Why
				}
			}
		}
	}
	o.progress("%s: at %d/s p50 %v, p99 %v", o.name(g), slowRate, s.Slow.P50.Round(10*time.Microsecond), s.Slow.P99.Round(10*time.Microsecond))
	return s, nil
}

// acknowledged adds up what all callers got acknowledged.
func acknowledged(counts []*count) (waits bench.Summary, perSecond float64) {
	var all []time.Duration
	for _, c := range counts {
		all = slices.Concat(all, c.Waits)
		perSecond += float64(c.Messages) / c.Took.Seconds()
	}
	return bench.Summarize(all), perSecond
}
