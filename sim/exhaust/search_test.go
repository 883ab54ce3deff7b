package exhaust

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// explored runs a search that must break no promise and be exhausted.
func explored(t *testing.T, opt Options) Report {
	t.Helper()
	r, err := Run(context.Background(), opt)
	require.NoError(t, err)
	if v := r.Violation; v != nil {
		for _, s := range v.Steps {
			t.Log(s)
		}
		t.Fatal(v)
	}
	require.True(t, r.Exhausted)
	return r
}

func TestTwoNodesKeepEveryPromise(t *testing.T) {
	for _, opt := range []Options{
		{Depth: 6},
		{Depth: 6, Mode: leader.Strict, RankBy: leader.ByID},
		{Depth: 5, Rates: Every, Timing: timed.Local()},
		{Depth: 5, Timing: timed.WAN()},
		{Depth: 24, Faults: 1, VeryLate: true},
		{Depth: 10, Faults: 1, Crashes: 1},
		{Depth: 10, Faults: 1, Stalls: 1},
	} {
		r := explored(t, opt)
		require.Equal(t, opt.Depth, r.Depth)
		require.Positive(t, r.Leaves)
		require.Positive(t, r.WorstRest)
		require.LessOrEqual(t, r.WorstRest, r.Bound)
	}
}

func TestThreeNodesKeepEveryPromise(t *testing.T) {
	for _, opt := range []Options{
		{Nodes: 3, Depth: 12, Faults: 1},
		{Nodes: 3, Depth: 12, Faults: 1, Mode: leader.Strict, RankBy: leader.ByID},
	} {
		explored(t, opt)
	}
}

// One search is like the other: no order of a map or of goroutines reaches it.
func TestSearchIsDeterministic(t *testing.T) {
	a := explored(t, Options{Depth: 5, Crashes: 1, Faults: 2})
	require.Equal(t, a, explored(t, Options{Depth: 5, Crashes: 1, Faults: 2}))
}

// Every path is a first one of three fates for each message: without merging,
// a tree of depth d has 3ᵈ leaves for each order of events; with it, fewer.
func TestStatesMerge(t *testing.T) {
	r := explored(t, Options{Depth: 10, Starts: []Start{Led}, Rates: Nominal, NoSuffix: true})
	require.Less(t, r.Leaves, 59049/3)
	require.Greater(t, r.Transitions, uint64(r.States))
}

// States that differ by a shift of time are one state: a led group without faults goes
// round in a circle.
func TestCalmIsACircle(t *testing.T) {
	w := newWorld(Options{}.withDefaults(), roots(Options{Starts: []Start{Led}}.withDefaults())[0])
	s, bad := w.start()
	require.Nil(t, bad)
	c := w.calmFrom(s)
	seen := map[digest]int64{}
	for range 2000 {
		c.step()
		require.Nil(t, c.failed)
		d, _ := c.state().digest(nil)
		if at, ok := seen[d]; ok {
			require.Positive(t, c.s.tick-at)
			return
		}
		seen[d] = c.s.tick
	}
	t.Fatal("no state came back")
}

func TestLimitsEndASearch(t *testing.T) {
	r, err := Run(context.Background(), Options{Depth: 20, States: 700})
	require.NoError(t, err)
	require.Equal(t, "states", r.Stopped)
	require.Equal(t, 700, r.States)
	require.False(t, r.Exhausted)
	require.Less(t, r.Depth, 20)

	ctx, cancel := context.WithCancel(context.Background())
	calls := 0
	r, err = Run(ctx, Options{Depth: 20, Progress: func(p Progress) {
		calls++
		require.Positive(t, p.States)
		require.Positive(t, p.Waiting)
		cancel()
	}})
	require.NoError(t, err)
	require.Equal(t, "interrupted", r.Stopped)
	require.Equal(t, 1, calls)
	require.Equal(t, progressEvery, r.States, "what was found is kept")

	late, cancel := context.WithDeadline(context.Background(), time.Unix(1, 0))
	defer cancel()
	r, err = Run(late, Options{})
	require.NoError(t, err)
	require.Equal(t, "time", r.Stopped)
}

func TestWrongOptions(t *testing.T) {
	tiny := timed.Local()
	tiny.FastThreshold = 5 * time.Microsecond
	for name, opt := range map[string]Options{
		"Nodes": {Nodes: MaxNodes + 1}, "Depth": {Depth: -1}, "Faults": {Faults: -1}, "Crashes": {Crashes: MaxBudget + 1},
		"Stalls": {Stalls: -1}, "States": {States: -1}, "Starts": {Starts: []Start{"hot"}}, "Rates": {Rates: "odd"},
		"Timing": {Timing: tiny},
	} {
		_, err := Run(context.Background(), opt)
		require.ErrorContains(t, err, "exhaust: "+name)
	}
}

// A path without a violation can be gone too, and a path that there is not is
// refused.
func TestReplay(t *testing.T) {
	opt := Options{Starts: []Start{Led}}.withDefaults()
	opt.Depth = 4
	s := newSearch(opt)
	s.run(context.Background())
	p := s.pathTo(uint32(len(s.tree) - 1))
	require.NotEmpty(t, p.Choices)
	b, err := json.Marshal(p)
	require.NoError(t, err)
	var again Path
	require.NoError(t, json.Unmarshal(b, &again))
	v, steps, err := Replay(again)
	require.NoError(t, err)
	require.Nil(t, v)
	require.Greater(t, len(steps), len(p.Choices))

	again.Choices[0].Outcomes = []int{99}
	_, _, err = Replay(again)
	require.ErrorContains(t, err, "choice 1")
	again.Root.Rates = nil
	_, _, err = Replay(again)
	require.ErrorContains(t, err, "clock rates")
}
