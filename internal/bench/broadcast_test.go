package bench

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
)

func TestBroadcast(t *testing.T) {
	if err := new(usage).ofProcess(); err != nil {
		t.Skip(err)
	}
	r, err := Broadcast(t.Context(), BroadcastOptions{Members: []int{3}, Sizes: []int{64}, Order: failaware.TotalOrder,
		Atomicities: []failaware.Atomicity{failaware.StrictAtomicity}, All: []bool{false, true}, Preset: "patient",
		Timing: patient(), For: 200 * time.Millisecond, Limit: time.Minute, Launch: launcher(t)})
	require.NoError(t, err)
	require.False(t, r.Cut)
	require.Len(t, r.Cells, 2)
	for i, c := range r.Cells {
		require.Equal(t, 3, c.Members)
		require.Equal(t, []int{1, 3}[i], c.Senders)
		require.Equal(t, "strict", c.Atomicity)
		for _, l := range []CastLoad{c.Saturated, c.Slow, c.Half} {
			require.Positive(t, l.Messages)
			require.InEpsilon(t, 64*l.Messages, l.Bytes, 1e-9)
			require.Positive(t, l.Latency.Count)
			require.Positive(t, l.Latency.Min, "no message arrives before it is sent")
		}
		require.Less(t, c.Slow.Messages, 2.0*castSlow)
		require.Positive(t, c.Ratio)
	}
	readable(t, r, func(b *strings.Builder) { r.Text(b) })
}

func TestBroadcastNamesWhatIsWrong(t *testing.T) {
	good := BroadcastOptions{Members: []int{2}, Sizes: []int{64}, For: time.Second, Limit: time.Second, Launch: launcher(t)}
	require.NoError(t, good.complete())
	require.GreaterOrEqual(t, good.Packet, minCastPacket)
	for text, change := range map[string]func(*BroadcastOptions){
		"processes": func(o *BroadcastOptions) { o.Launch = nil },
		"packets":   func(o *BroadcastOptions) { o.Packet = 1000 },
		"time":      func(o *BroadcastOptions) { o.For = time.Hour },
		"limit":     func(o *BroadcastOptions) { o.Limit = 0 },
		"group":     func(o *BroadcastOptions) { o.Members = []int{1} },
		"messages":  func(o *BroadcastOptions) { o.Sizes = []int{castHead - 1} },
	} {
		opt := good
		change(&opt)
		_, err := Broadcast(t.Context(), opt)
		require.ErrorContains(t, err, text)
	}
	good.Limit = time.Nanosecond
	_, err := Broadcast(t.Context(), good)
	require.ErrorIs(t, err, errLimit)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Broadcast(ended, good)
	require.ErrorIs(t, err, context.Canceled)
}

// A message has arrived when the last member has it; one that a member lacks is
// missing, and no latency.
func TestBroadcastSumsUpAtTheSlowestMember(t *testing.T) {
	l := sumUpCast([]*castCount{
		{Elapsed: time.Second, CPU: 300 * time.Millisecond, Messages: 100, Bytes: 1000, Views: 1,
			Traces: []castTrace{{1, 1, 10, 15}, {2, 1, 20, 26}}},
		{Elapsed: 2 * time.Second, CPU: 200 * time.Millisecond, Messages: 100, Bytes: 1000, Overflow: 3,
			Traces: []castTrace{{1, 1, 10, 19}}},
	})
	require.Equal(t, CastLoad{Messages: 50, Bytes: 500, PerMessage: 8 * time.Millisecond, Cores: 0.4, Latency: summarize([]time.Duration{9}),
		Missing: 1, Views: 1, Overflow: 3}, l)
}

func TestBroadcastAims(t *testing.T) {
	r := BroadcastResult{Cells: []BroadcastCell{{Members: 3, Senders: 1, Size: 64, Atomicity: "weak",
		Saturated: CastLoad{Messages: 600e3}, Slow: CastLoad{Latency: summarize([]time.Duration{time.Millisecond})}}}}
	r.aim()
	var met []bool
	for _, a := range r.Aims {
		met = append(met, a.Met)
	}
	require.Equal(t, []bool{true, false, false}, met, "%v", r.Aims)
}
