package metrics

import (
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/event"
)

// A time without a leader begins and ends with events of the local lead alone, and does not
// count if its end may have been missed.
func TestTimesWithoutALeader(t *testing.T) {
	at := func(s int) event.Header { return event.Header{Time: time.Unix(1e9+int64(s), 0)} }
	for what, x := range map[string]struct {
		events     []event.Event
		count, sum string
	}{
		"its own lead":           {[]event.Event{event.LeadLost{Header: at(0)}, event.Elected{Header: at(2)}}, "1", "2"},
		"another's lead":         {[]event.Event{event.Following{Header: at(0)}, event.Following{Header: at(3), Leader: 2}}, "1", "3"},
		"from the first on":      {[]event.Event{event.LeadLost{Header: at(0)}, event.Following{Header: at(3)}, event.Elected{Header: at(4)}}, "1", "4"},
		"a global lead ends":     {[]event.Event{event.LeadLost{Header: at(0), Global: true}, event.Elected{Header: at(2)}}, "0", "0"},
		"a global lead begins":   {[]event.Event{event.LeadLost{Header: at(0)}, event.Elected{Header: at(2), Global: true}, event.Elected{Header: at(5)}}, "1", "5"},
		"one may be missed":      {[]event.Event{event.LeadLost{Header: at(0)}, event.Missed{Header: at(1)}, event.Elected{Header: at(2)}}, "0", "0"},
		"a clock that goes back": {[]event.Event{event.LeadLost{Header: at(5)}, event.Elected{Header: at(2)}}, "1", "0"},
	} {
		c := newEvents(nil)
		c.follow(slices.Values(x.events))
		m := &Metrics{registry: prometheus.NewRegistry()}
		m.registry.MustRegister(c.all()...)
		text := scrape(t, m.Handler())
		require.Equal(t, x.count, value(text, "failaware_without_leader_seconds_count"), what)
		require.Equal(t, x.sum, value(text, "failaware_without_leader_seconds_sum"), what)
	}
}
