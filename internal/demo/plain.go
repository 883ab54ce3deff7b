package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/failaware/failaware"
)

// Output writes lines: as text, or as one JSON object each.
type Output struct {
	To   io.Writer
	JSON bool
	err  error
}

// line writes a value, or its text.
func (o *Output) line(value any, format string, args ...any) {
	if o.err != nil {
		return
	}
	if o.JSON {
		o.err = json.NewEncoder(o.To).Encode(value)
		return
	}
	_, o.err = fmt.Fprintf(o.To, format+"\n", args...)
}

// eventLine is an entry of the journal in JSON.
type eventLine struct {
	Kind    string  `json:"kind"`
	Seconds float64 `json:"seconds"`
	Nodes   []int   `json:"nodes"`
	Text    string  `json:"text"`
}

// statusLine is the present status in JSON.
type statusLine struct {
	Kind       string       `json:"kind"`
	Seconds    float64      `json:"seconds"`
	Nodes      []statusNode `json:"nodes"`
	Checks     uint64       `json:"checks"`
	Violations []string     `json:"violations"`
}

type statusNode struct {
	ID             int     `json:"id"`
	State          string  `json:"state"`
	Leader         int     `json:"leader"`
	Leads          bool    `json:"leads"`
	LeaseLeftMs    float64 `json:"lease_left_ms"`
	View           string  `json:"view"`
	Members        []int   `json:"members"`
	UpToDate       bool    `json:"up_to_date"`
	ClockBoundUs   float64 `json:"clock_bound_us"` // −1: unknown
	ClockTimeNanos int64   `json:"clock_time_ns"`
}

// Plain writes a line for each event and one each second for the status, for some time
// or until ctx is done. The error is that of writing, or names the broken invariants.
func Plain(ctx context.Context, w *World, o *Output, during time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, during)
	defer cancel()
	events, status := time.NewTicker(mergeWithin), time.NewTicker(time.Second)
	defer events.Stop()
	defer status.Stop()
	next, told := 0, time.Time{}
	for o.err == nil {
		select {
		case <-ctx.Done():
			o.entries(w, &next, math.MaxInt64)
			if time.Since(told) > time.Second/2 {
				o.status(w)
			}
			if _, broken := w.watch.result(); len(broken) > 0 {
				return fmt.Errorf("broken invariants: %s", strings.Join(broken, "; "))
			}
			return o.err
		case <-events.C:
			// Further nodes may still report the latest events.
			o.entries(w, &next, time.Since(w.began)-mergeWithin)
		case <-status.C:
			o.status(w)
			told = time.Now()
		}
	}
	return o.err
}

// entries writes new entries of the journal.
func (o *Output) entries(w *World, next *int, until time.Duration) {
	var list []Entry
	list, *next = w.journal.since(*next, until)
	for _, e := range list {
		o.entry(e)
	}
}

func (o *Output) entry(e Entry) {
	o.line(eventLine{e.Kind, e.At.Seconds(), ints(e.Nodes), e.Text}, "%8.3f  %-9s %s", e.At.Seconds(), ids(e.Nodes), e.Text)
}

func ints(s failaware.Set) []int {
	list := []int{}
	for id := range s.All() {
		list = append(list, int(id))
	}
	return list
}

// status writes the present status.
func (o *Output) status(w *World) {
	m := w.Look()
	o.line(statusOf(&m), "%8.3f  status    %s", m.Elapsed.Seconds(), summary(&m))
}

// statusOf returns the status in JSON.
func statusOf(m *Model) statusLine {
	line := statusLine{Kind: "status", Seconds: m.Elapsed.Seconds(), Checks: m.Rounds, Violations: m.Violations}
	for i := range m.Nodes {
		n := &m.Nodes[i]
		s := statusNode{ID: int(n.ID), State: n.State.String(), Leader: int(n.Leader.Leader), Leads: n.Leader.Leads,
			LeaseLeftMs: ms(n.Leader.AtMost), UpToDate: n.View.UpToDate, Members: []int{}, ClockBoundUs: -1,
			ClockTimeNanos: int64(n.Clock.Time)}
		if v := n.View.View; installed(v) {
			s.View, s.Members = v.ID.String(), ints(v.Set)
		}
		if n.Clock.Deviation != math.MaxInt64 {
			s.ClockBoundUs = float64(n.Clock.Deviation) / 1e3
		}
		line.Nodes = append(line.Nodes, s)
	}
	return line
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

// summary describes the present status in one line.
func summary(m *Model) string {
	var parts []string
	for _, p := range m.Partitions {
		view, _ := partitionView(m, p)
		parts = append(parts, fmt.Sprintf("node %v leads %v, %s", p.Leader, p.Nodes, view))
	}
	var down []string
	worst := time.Duration(-1)
	for i := range m.Nodes {
		switch n := &m.Nodes[i]; {
		case n.State != Up:
			down = append(down, fmt.Sprintf("node %v %v", n.ID, n.State))
		case n.Clock.Deviation > worst:
			worst = n.Clock.Deviation
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "no leader")
	}
	parts = append(parts, down...)
	if worst >= 0 && worst != math.MaxInt64 {
		parts = append(parts, "clocks within "+short(worst))
	}
	if len(m.Violations) > 0 {
		return strings.Join(parts, "; ") + fmt.Sprintf("; BROKEN: %s", m.Violations[0])
	}
	return strings.Join(parts, "; ") + fmt.Sprintf("; checked %s times: all holds", thousands(m.Rounds))
}
