package diagram

import (
	"bytes"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/sim"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// Everything that a recording has comes into the picture.
func TestOfARecording(t *testing.T) {
	views := []membership.ViewID{{Sequence: 2, Leader: 1, Boot: 5}, {Sequence: 1, Leader: 3, Boot: 7}}
	rec := &sim.Recording{Nodes: 3, From: 100 * ms, To: 200 * ms,
		Messages: []sim.RecordedMessage{
			{From: 1, To: 2, Sent: 110 * ms, Arrived: 112 * ms, Fast: true, Says: "request 1"},
			{From: 1, To: 3, Sent: 110 * ms, Arrived: 130 * ms, Bare: true, Says: "keepalive"},
			{From: 2, To: 3, Sent: 110 * ms, Arrived: sim.Never, Says: "vote"},
			{From: 2, To: 2, Sent: 110 * ms, Arrived: 111 * ms, Says: "to a rival"}},
		Bars: []sim.RecordedBar{
			{Kind: sim.BarLeads, Node: 1, From: 100 * ms, To: 150 * ms, Leader: 1, Label: "{1 2}"},
			{Kind: sim.BarVote, Node: 2, From: 100 * ms, To: 150 * ms, Leader: 1},
			{Kind: sim.BarView, Node: 1, From: 100 * ms, To: 150 * ms, View: views[0], Label: "v2"},
			{Kind: sim.BarStale, Node: 2, From: 150 * ms, To: 160 * ms, View: views[1], Label: "v1"},
			{Kind: sim.BarDown, Node: 3, From: 100 * ms, To: 120 * ms},
			{Kind: sim.BarStalled, Node: 3, From: 130 * ms, To: 140 * ms, Label: "suspend"}},
		Marks: []sim.RecordedMark{
			{At: 40 * ms, Fault: true, Label: "loss 5%"},
			{Node: 3, At: 130 * ms, Fault: true, Label: "suspend 3"},
			{Node: 2, At: 140 * ms, Label: "blames its own clock"}}}
	r := Of(rec, &sim.Violation{Check: "M4", Node: 2, At: 200*ms + 1, Detail: "views overlap"})
	require.Equal(t, []string{"node 1", "node 2", "node 3"}, r.Nodes)
	require.Equal(t, "under way at 100ms: loss 5% since 40ms", r.Subtitle)
	require.Equal(t, []Message{
		{From: 0, To: 1, Sent: 110 * ms, Arrived: 112 * ms, Fate: Fast, Label: "request 1"},
		{From: 0, To: 2, Sent: 110 * ms, Arrived: 130 * ms, Fate: Slow, Keepalive: true},
		{From: 1, To: 2, Sent: 110 * ms, Fate: Lost, Label: "vote"}}, r.Messages)
	require.Equal(t, []Bar{
		{Node: 0, From: 100 * ms, To: 150 * ms, Kind: Lead, Group: 1, Label: "{1 2}"},
		{Node: 1, From: 100 * ms, To: 150 * ms, Kind: Lock, Group: 1},
		{Node: 0, From: 100 * ms, To: 150 * ms, Kind: View, Group: 1, Label: "v2"},
		{Node: 1, From: 150 * ms, To: 160 * ms, Kind: Stale, Group: 0, Label: "v1"},
		{Node: 2, From: 100 * ms, To: 120 * ms, Kind: Down},
		{Node: 2, From: 130 * ms, To: 140 * ms, Kind: Stalled, Label: "suspend"}}, r.Bars)
	require.Equal(t, []Mark{
		{Node: 2, At: 130 * ms, Kind: Fault, Label: "suspend 3"},
		{Node: 1, At: 140 * ms, Kind: Event, Label: "blames its own clock"},
		{Node: 1, At: 200*ms + 1, Kind: Violation, Label: "M4: views overlap"}}, r.Marks)
	require.Equal(t, 200*ms+1, r.To)
	require.NoError(t, Render(new(bytes.Buffer), r, Options{}))
}

// A real run, with rivals and everything else, can be drawn.
func TestOfRealRuns(t *testing.T) {
	kinds := map[BarKind]bool{}
	for seed := uint64(1); seed <= 4; seed++ {
		c, err := sim.CaseOf(seed, sim.Options{Roughness: 4, Duration: 10 * time.Second,
			Faults: []fault.Fault{{At: time.Second, Kind: fault.Rival, Node: timed.NodeID(seed), For: time.Second}}})
		require.NoError(t, err)
		for _, from := range []time.Duration{0, 5 * time.Second} {
			rec, err := c.Record(context.Background(), from, from+3*time.Second)
			require.NoError(t, err)
			r := Of(rec, nil)
			require.NoError(t, Render(new(bytes.Buffer), r, Options{}))
			for _, b := range r.Bars {
				kinds[b.Kind] = true
			}
			require.NotEmpty(t, r.Messages)
			require.True(t, slices.ContainsFunc(r.Messages, func(m Message) bool { return m.Fate == Lost }))
		}
	}
	require.Len(t, kinds, len(barKinds))
}
