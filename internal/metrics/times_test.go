package metrics

import (
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/histogram"
	"github.com/failaware/failaware/timed"
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

// reading is a collector of one reading.
type reading func(out *sink)

func (reading) Describe(chan<- *prometheus.Desc) {}

func (r reading) Collect(to chan<- prometheus.Metric) { r(&sink{to: to, known: new(labelSets)}) }

// scrapeOf returns the text of one reading.
func scrapeOf(t *testing.T, r reading) string {
	m := &Metrics{registry: prometheus.NewRegistry()}
	m.registry.MustRegister(r)
	return scrape(t, m.Handler())
}

// Each gauge has a field of its own.
func TestEachGaugeHasItsField(t *testing.T) {
	x := failaware.Status{}
	x.Leader = failaware.LeaderAnswer{Leader: 4, UpToDate: true, AtMost: time.Second}
	x.View = failaware.ViewAnswer{View: &failaware.View{Set: timed.SetOf(1, 2, 5)}, AtMost: 2 * time.Second}
	x.Clock.Status, x.Clock.Deviation, x.Clock.UTCBound = clocksync.Internal, 3*time.Second, 6*time.Second
	check := func(want map[string]string) {
		text := scrapeOf(t, func(out *sink) { out.answers(&x) })
		for name, v := range want {
			require.Equal(t, v, value(text, "failaware_"+name), name)
		}
	}
	check(map[string]string{"leads": "0", "leader_id": "4", "leader_lease_seconds": "1", "view_up_to_date": "0", "view_members": "3", "view_lease_seconds": "2",
		"clock_synchronized": "1", "clock_external": "0", "clock_deviation_bound_seconds": "3", "clock_utc_bound_seconds": "6"})
	x.Leader.UpToDate, x.Leader.Leads, x.View.UpToDate = false, true, true
	x.Clock.Status, x.Clock.Deviation = clocksync.External, clocksync.UnknownBound
	check(map[string]string{"leads": "1", "leader_id": "0", "view_up_to_date": "1", "clock_synchronized": "1", "clock_external": "1", "clock_deviation_bound_seconds": ""})
	x.View.View, x.Clock.Status, x.Clock.UTCBound = nil, clocksync.Unsynchronized, clocksync.UnknownBound
	check(map[string]string{"view_members": "0", "clock_synchronized": "0", "clock_external": "0", "clock_utc_bound_seconds": ""})
}

// What the loop and the handlers count has its unit and its label, and an address whose node
// is not known yet is no peer.
func TestEachCounterHasItsField(t *testing.T) {
	x := failaware.Status{}
	x.Lateness.Max, x.Lateness.Late = 1500*time.Millisecond, 7
	x.Peers = append(x.Peers, failaware.PeerStatus{}, failaware.PeerStatus{ID: 3, FastPackets: 4, SlowPackets: 5})
	text := scrapeOf(t, func(out *sink) {
		out.loop(&x)
		out.sources(&Sources{Handlers: func() Handlers { return Handlers{Handled: 8, Failed: 9, Dropped: 6} }, Refused: func() uint64 { return 3 }})
	})
	for series, want := range map[string]string{
		"loop_lateness_max_seconds": "1.5",
		"loop_late_total":           "7",
		"peers":                     "1",
		`peer_alive{peer="0"}`:      "",
		`peer_packets_total{peer="3",speed="fast"}`: "4",
		`peer_packets_total{peer="3",speed="slow"}`: "5",
		`handler_events_total{outcome="handled"}`:   "8",
		`handler_events_total{outcome="failed"}`:    "9",
		`handler_events_total{outcome="dropped"}`:   "6",
		"api_refused_total":                         "3",
	} {
		require.Equal(t, want, value(text, "failaware_"+series), series)
	}
}

// The buckets of a histogram count all durations up to their bounds.
func TestBucketsCountAllBelow(t *testing.T) {
	var h histogram.Durations
	for _, d := range []time.Duration{time.Microsecond, 2 * time.Microsecond, 3 * time.Microsecond, 4 * time.Microsecond, time.Hour} {
		h.Note(d)
	}
	text := scrapeOf(t, func(out *sink) { out.durations(descDelays, &h) })
	for le, want := range map[string]string{"1e-06": "1", "2e-06": "2", "4e-06": "4", "8e-06": "4", "+Inf": "5"} {
		require.Equal(t, want, value(text, `failaware_delay_bound_seconds_bucket{le="`+le+`"}`), le)
	}
	require.Equal(t, "5", value(text, "failaware_delay_bound_seconds_count"))
	require.Equal(t, "3600.00001", value(text, "failaware_delay_bound_seconds_sum"))
}
