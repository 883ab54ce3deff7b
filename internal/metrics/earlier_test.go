package metrics

import (
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Events from before the metrics are made count.
func earlierEventsCount(t testing.TB) {
	n := startNode(t, 1)
	require.Eventually(t, func() bool { return n.View().UpToDate && n.Leads() }, time.Minute, time.Millisecond)
	m := New(t.Context(), n, Sources{})
	require.Eventually(t, func() bool { // until a later event is counted
		_ = n.Resign(t.Context())
		return regexp.MustCompile(`failaware_leads_lost_total\{.*\} [1-9]`).MatchString(scrape(t, m.Handler()))
	}, time.Minute, time.Millisecond)
	require.Equal(t, "1", value(scrape(t, m.Handler()), `failaware_events_total{kind="ready"}`))
}

func TestEarlierEventsAreCounted(t *testing.T) { earlierEventsCount(t) }
