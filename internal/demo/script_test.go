package demo

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/timed"
)

func newTestWorld(t *testing.T, nodes int) *World { return newWorldOf(t, nodes, "local") }

func newWorldOf(t *testing.T, nodes int, preset string) *World {
	w, err := NewWorld(Options{Nodes: nodes, Preset: preset})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	return w
}

// The story is the platform's own: it must succeed with real nodes over real sockets. Nodes of
// a LAN agree on a machine that is much too busy for local ones.
func TestStorySucceeds(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	var out bytes.Buffer
	err := Tell(t.Context(), newWorldOf(t, 5, "lan"), &Output{To: &out})
	t.Log("\n" + out.String())
	require.NoError(t, err)
	require.Contains(t, out.String(), "The story succeeded: ")
	require.Contains(t, out.String(), "checks of the invariants")
	require.NotContains(t, out.String(), "✗")
}

// A failing story says that it fails, and why.
func TestFailingStory(t *testing.T) {
	w := newTestWorld(t, 2)
	s := step{title: "wait for nothing", expect: "something", bound: time.Nanosecond,
		do: func() error { return nil }, done: func() (string, bool, error) { return "nothing", false, nil }}
	var out bytes.Buffer
	ctx := t.Context()
	o := &Output{To: &out}
	began := time.Now()
	s.done = func() (string, bool, error) {
		if time.Since(began) > 20*time.Millisecond {
			return "two leaders", false, ErrStory
		}
		return "nothing", false, nil
	}
	_, err := o.play(ctx, w, 1, &s)
	require.ErrorIs(t, err, ErrStory)
	require.ErrorContains(t, err, "a broken invariant")
	o.failed(w, &endLine{Steps: 1})
	require.Contains(t, out.String(), "✗")
	require.Contains(t, out.String(), "failed")

	w.watch.violations = []string{"clocks contradict"}
	s.done = func() (string, bool, error) { return "fine", true, nil }
	_, err = o.play(ctx, w, 1, &s)
	require.ErrorContains(t, err, "clocks contradict")
	require.Error(t, Plain(ctx, w, o, time.Millisecond))
}

// The status in JSON has each figure in its place and in its unit.
func TestStatusInJSON(t *testing.T) {
	view := failaware.View{ID: failaware.ViewID{Sequence: 3, Leader: 2, Boot: 7}, Set: timed.SetOf(1, 2)}
	n := NodeModel{ID: 2, State: Paused}
	n.Leader.Leader, n.Leader.Leads, n.Leader.AtMost = 2, true, 5*time.Millisecond
	n.View.View, n.View.UpToDate = &view, true
	n.Clock.Time, n.Clock.Deviation = 11, 13*time.Microsecond
	m := Model{Elapsed: 17 * time.Second, Rounds: 19, Violations: []string{"broken"}, Nodes: []NodeModel{n, {ID: 3, State: Crashed}}}
	m.Nodes[1].Clock.Deviation = math.MaxInt64
	require.Equal(t, statusLine{Kind: "status", Seconds: 17, Checks: 19, Violations: []string{"broken"}, Nodes: []statusNode{
		{ID: 2, State: "paused", Leader: 2, Leads: true, LeaseLeftMs: 5, View: view.ID.String(), Members: []int{1, 2}, UpToDate: true,
			ClockBoundUs: 13, ClockTimeNanos: 11},
		{ID: 3, State: "crashed", Members: []int{}, ClockBoundUs: -1},
	}}, statusOf(&m))
}

func TestPlainLines(t *testing.T) {
	w := newTestWorld(t, 2)
	require.NoError(t, w.StartAll())
	eventually(t, func() bool { return strings.Contains(summaryOf(w), "fresh view") })
	var out bytes.Buffer
	require.NoError(t, Plain(t.Context(), w, &Output{To: &out}, 50*time.Millisecond))
	require.Contains(t, out.String(), "leads")
	require.Contains(t, out.String(), "status")

	out.Reset()
	require.NoError(t, Plain(t.Context(), w, &Output{To: &out, JSON: true}, 50*time.Millisecond))
	var last map[string]any
	for line := range strings.Lines(out.String()) {
		last = nil
		require.NoError(t, json.Unmarshal([]byte(line), &last))
	}
	require.Equal(t, "status", last["kind"])
	require.Len(t, last["nodes"], 2)
}

func summaryOf(w *World) string {
	m := w.Look()
	return summary(&m)
}

func TestOptions(t *testing.T) {
	require.NoError(t, Options{Nodes: 9, Preset: "wan"}.Check())
	for _, o := range []Options{{Nodes: 1, Preset: "lan"}, {Nodes: 10, Preset: "lan"}, {Nodes: 5, Preset: "moon"}} {
		require.Error(t, o.Check())
		_, err := NewWorld(o)
		require.Error(t, err)
	}
}
