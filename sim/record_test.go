package sim

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

func scripted(d time.Duration, nodes int, faults ...fault.Fault) Case {
	c, err := CaseOf(1, Options{Calm: true, Nodes: nodes, Duration: d, Faults: faults})
	if err != nil {
		panic(err)
	}
	return c
}

// What is recorded of a window is what happened in it, with what was so already
// when it began.
func TestRecordOfAWindow(t *testing.T) {
	split := fault.Fault{At: 500 * time.Millisecond, For: 900 * time.Millisecond, Kind: fault.Split, Blocks: []timed.Set{timed.SetOf(1, 2), timed.SetOf(3)}}
	crash := fault.Fault{At: 900 * time.Millisecond, For: 200 * time.Millisecond, Kind: fault.Crash, Node: 2}
	stall := fault.Fault{At: 950 * time.Millisecond, For: 30 * time.Millisecond, Kind: fault.Stall, Node: 3}
	slow := fault.Fault{At: 1500 * time.Millisecond, For: 300 * time.Millisecond, Kind: fault.Slow, Extra: 300 * time.Millisecond}
	c := scripted(2*time.Second, 3, split, crash, stall, slow)
	plain, err := c.Run()
	require.NoError(t, err)
	from, to := 800*time.Millisecond, 1600*time.Millisecond
	r, err := c.Record(context.Background(), from, to)
	require.NoError(t, err)
	again, err := c.Run()
	require.NoError(t, err)
	require.Equal(t, plain.Hash, again.Hash)
	require.Equal(t, from, r.From)
	require.Equal(t, to, r.To)

	has := func(kind BarKind, node timed.NodeID, f func(*RecordedBar) bool) bool {
		return slices.ContainsFunc(r.Bars, func(b RecordedBar) bool { return b.Kind == kind && b.Node == node && f(&b) })
	}
	anyBar := func(*RecordedBar) bool { return true }
	require.True(t, has(BarDown, 2, func(b *RecordedBar) bool { return b.From == crash.At && b.To == crash.At+crash.For }))
	require.True(t, has(BarStalled, 3, func(b *RecordedBar) bool { return b.From == stall.At && b.To == stall.At+stall.For }))
	require.True(t, has(BarLeads, 3, func(b *RecordedBar) bool { return b.From == from && b.Members == timed.SetOf(3) }), "it led before")
	require.True(t, has(BarView, 1, anyBar))
	require.True(t, has(BarStale, 1, anyBar), "node 2 is silent, and the view with it is stale")
	for _, b := range r.Bars {
		require.True(t, from <= b.From && b.From <= b.To && b.To <= to, "%+v", b)
	}
	// Bars of a kind do not overlap on a lane.
	for i, a := range r.Bars {
		for _, b := range r.Bars[:i] {
			require.False(t, a.Kind == b.Kind && a.Node == b.Node && a.From < b.To && b.From < a.To, "%+v\n%+v", a, b)
		}
	}
	var labels []string
	for _, m := range r.Marks {
		labels = append(labels, m.At.String()+" "+m.Label)
		require.True(t, m.At >= from || m.Label == split.Label())
	}
	require.Subset(t, labels, []string{"500ms split {1 2} {3}", "900ms crash 2", "1.4s split ends"})
	require.NotEmpty(t, r.Messages)
	for _, m := range r.Messages {
		require.True(t, m.Sent <= to && m.Arrived >= from, "%+v", m)
	}
	toTheDead := func(m RecordedMessage) bool {
		return m.From == 1 && m.To == 2 && m.Sent > crash.At && m.Arrived == Never
	}
	require.True(t, slices.ContainsFunc(r.Messages, toTheDead))
	onItsWay := func(m RecordedMessage) bool { return m.Arrived > to && m.Arrived < to+time.Second }
	require.True(t, slices.ContainsFunc(r.Messages, onItsWay))
}

func TestRecordRefusesNoTime(t *testing.T) {
	c := scripted(time.Second, 2)
	for _, w := range [][2]time.Duration{{0, 0}, {time.Second, time.Millisecond}, {-1, 1}} {
		_, err := c.Record(context.Background(), w[0], w[1])
		require.Error(t, err)
	}
}

// A run that is told to end does, and keeps what it had found.
func TestRunContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c := scripted(fault.MaxDuration, 3)
	r, err := c.RunContext(ctx)
	require.NoError(t, err)
	require.Less(t, r.Simulated, fault.MaxDuration)
	_, _, err = Shrink(ctx, c, ShrinkOptions{})
	require.ErrorIs(t, err, context.Canceled)
}

// The sums of one run are those of a campaign of that seed.
func TestTallyOf(t *testing.T) {
	opt := Options{Duration: 5 * time.Second}
	want, _, err := Campaign{Options: opt, First: 7, Seeds: 1}.Run(context.Background())
	require.NoError(t, err)
	r, err := Run(7, opt)
	require.NoError(t, err)
	got := TallyOf(opt, time.Second, r)
	require.NotZero(t, got.EventsPerSecond)
	want.EventsPerSecond, want.TimesRealTime = got.EventsPerSecond, got.TimesRealTime
	require.Equal(t, want, got)
}
