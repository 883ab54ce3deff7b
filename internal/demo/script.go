package demo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// ErrStory: a step of the story failed.
var ErrStory = errors.New("the story failed")

// step is one part of the story.
type step struct {
	title  string
	expect string
	// bound is the time within which the platform guarantees the step, on a timely
	// machine.
	bound time.Duration
	do    func() error
	// done reports whether the expected state is reached, and describes the present
	// state. An error is a state that must never happen.
	done func() (got string, ok bool, err error)
	// after is the time of rest after the step.
	after time.Duration
}

// stepLine is a step in JSON.
type stepLine struct {
	Kind     string      `json:"kind"` // "step"
	Step     int         `json:"step"`
	Title    string      `json:"title"`
	Expected string      `json:"expected"`
	Got      string      `json:"got"`
	OK       bool        `json:"ok"`
	TookMs   float64     `json:"took_ms"`
	BoundMs  float64     `json:"bound_ms"`
	Within   bool        `json:"within_bound"`
	Events   []eventLine `json:"events"`
}

// endLine is the end of the story in JSON.
type endLine struct {
	Kind       string   `json:"kind"` // "end"
	OK         bool     `json:"ok"`
	Steps      int      `json:"steps"`
	Within     int      `json:"within_bound"`
	Seconds    float64  `json:"seconds"`
	Checks     uint64   `json:"checks"`
	Violations []string `json:"violations"`
}

const (
	pollEvery = time.Millisecond
	// basePatience is how long a step may take on a busy machine, besides many
	// times its bound.
	basePatience  = 30 * time.Second
	boundPatience = 10
	maxEvents     = 10 // shown for a step
)

// Tell plays the story, and writes the expected and the actual state of each step. The
// error is [ErrStory] if a step fails.
func Tell(ctx context.Context, w *World, o *Output) error {
	steps := newStory(w).steps()
	if !o.JSON {
		o.line(nil, "failaware demo: %d nodes over UDP on loopback, %s timing", len(w.members), w.preset)
		o.line(nil, "The bounds are those that this timing guarantees on a timely machine. A busy one may take longer, but must never\nbreak an invariant: leaders' supports and fresh views do not overlap, and clocks keep their bounds.\n")
	}
	end := endLine{Kind: "end", Steps: len(steps)}
	for i := range steps {
		within, err := o.play(ctx, w, i+1, &steps[i])
		if err != nil {
			o.failed(w, &end)
			return err
		}
		if within {
			end.Within++
		}
	}
	end.OK = true
	o.end(w, &end)
	return o.err
}

// play plays one step.
func (o *Output) play(ctx context.Context, w *World, number int, s *step) (within bool, err error) {
	from := w.journal.next()
	w.Note("%s", s.title)
	began := time.Now()
	if err := s.do(); err != nil {
		return false, fmt.Errorf("%w: step %d (%s): %w", ErrStory, number, s.title, err)
	}
	got, ok, broken := w.await(ctx, s, began)
	took := time.Since(began)
	within = ok && took <= s.bound
	rest(ctx, max(s.after, 2*mergeWithin)) // further nodes report the same a little later
	o.step(w, number, s, from, got, ok, took)
	if broken == nil {
		if _, list := w.watch.result(); len(list) > 0 {
			broken = errors.New(strings.Join(list, "; "))
		}
	}
	switch {
	case broken != nil:
		return false, fmt.Errorf("%w: step %d (%s): a broken invariant: %w", ErrStory, number, s.title, broken)
	case ctx.Err() != nil:
		return false, fmt.Errorf("%w: step %d (%s): interrupted", ErrStory, number, s.title)
	case !ok:
		return false, fmt.Errorf("%w: step %d (%s): not within %v", ErrStory, number, s.title, took.Round(time.Millisecond))
	}
	return within, o.err
}

// await waits until a step is done.
func (w *World) await(ctx context.Context, s *step, began time.Time) (got string, ok bool, err error) {
	patience := basePatience + boundPatience*s.bound
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		if got, ok, err = s.done(); ok || err != nil || time.Since(began) > patience {
			return got, ok, err
		}
		select {
		case <-ctx.Done():
			return got, false, nil
		case <-tick.C:
		}
	}
}

func rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// step writes the result of a step.
func (o *Output) step(w *World, number int, s *step, from int, got string, ok bool, took time.Duration) {
	list, _ := w.journal.since(from+1, math.MaxInt64)
	line := stepLine{Kind: "step", Step: number, Title: s.title, Expected: s.expect, Got: got, OK: ok,
		TookMs: ms(took), BoundMs: ms(s.bound), Within: ok && took <= s.bound, Events: []eventLine{}}
	var events strings.Builder
	for _, e := range condense(list) {
		if !telling(e.Kind) {
			continue
		}
		line.Events = append(line.Events, eventLine{e.Kind, e.At.Seconds(), ints(e.Nodes), e.Text})
		if len(line.Events) <= maxEvents {
			fmt.Fprintf(&events, "\n       %-9s │ %s", ids(e.Nodes), e.Text)
		}
	}
	if more := len(line.Events) - maxEvents; more > 0 {
		fmt.Fprintf(&events, "\n       and %d more", more)
	}
	verdict := "✓"
	switch {
	case !ok:
		verdict = "✗ NOT"
	case took > s.bound:
		verdict = "✓ later than the bound: the machine was not timely"
	}
	got = strings.ReplaceAll(got, "; ", "\n              ")
	o.line(line, "%2d  %s\n    expected  %s\n              within %v\n    got       %s\n              after %v %s%s\n",
		number, s.title, s.expect, brief(s.bound), got, brief(took), verdict, events.String())
}

// telling reports whether a kind of event is part of the story.
func telling(kind string) bool {
	switch kind {
	case "view-fresh", "peer-alive":
		return false
	}
	return !noise(kind)
}

func brief(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }

func (o *Output) end(w *World, e *endLine) {
	e.Seconds = time.Since(w.began).Seconds()
	e.Checks, e.Violations = w.watch.result()
	verdict := "The story succeeded"
	if !e.OK {
		verdict = "The story failed"
	}
	o.line(e, "%s: %d of %d steps within their bounds, in %.1f s; %s checks of the invariants, %d violations.",
		verdict, e.Within, e.Steps, e.Seconds, thousands(e.Checks), len(e.Violations))
}

// failed writes details that may explain the failure.
func (o *Output) failed(w *World, e *endLine) {
	list, _ := w.journal.since(0, math.MaxInt64)
	if !o.JSON {
		o.line(nil, "The last events:")
		for _, e := range list[max(len(list)-60, 0):] {
			o.entry(e)
		}
	}
	o.status(w)
	o.end(w, e)
}
