package metrics

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
)

// stalledLoopIsLeftOut scrapes a node whose loop does not answer. What only the loop knows is
// missing: a counter of 0 would look like a start of the process, and no peers like a node that
// is alone.
func stalledLoopIsLeftOut(t testing.TB) {
	var stalled sync.Mutex
	n, err := failaware.Start(t.Context(), failaware.Config{ID: 1, Timing: failaware.LAN(), OnPublish: func(failaware.Published) {
		stalled.Lock()
		defer stalled.Unlock()
	}})
	require.NoError(t, err)
	defer func() { _ = n.Close() }()
	h := New(t.Context(), n, Sources{Version: "v1"}).Handler()
	ofLoop := []string{"failaware_ready", "failaware_incarnations", "failaware_peers", "failaware_delay_bound_seconds_count",
		"failaware_loop_lateness_seconds_count", "failaware_loop_late_total", `failaware_packets_total{direction="sent"}`}
	text := scrape(t, h)
	require.Equal(t, "1", value(text, "failaware_loop_answered"))
	for _, series := range ofLoop {
		require.NotEmpty(t, value(text, series), series)
	}

	stalled.Lock()
	defer stalled.Unlock()
	for n.Status().Age >= 0 { // until it publishes the next time
		time.Sleep(time.Millisecond)
	}
	text = scrape(t, h)
	require.Equal(t, "0", value(text, "failaware_loop_answered"))
	require.Equal(t, "0", value(text, "failaware_leads"), "what the clock alone says")
	require.NotEmpty(t, value(text, `failaware_node_info{group="default",name="node-1",node="1",version="v1"}`))
	for _, series := range ofLoop {
		require.Empty(t, value(text, series), series)
	}
}

func TestAStalledLoopIsLeftOut(t *testing.T) { stalledLoopIsLeftOut(t) }
