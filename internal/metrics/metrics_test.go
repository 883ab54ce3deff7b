package metrics

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/membership"
)

// startNode starts a node that ends with the test.
func startNode(t testing.TB, id failaware.NodeID, peers ...*failaware.Node) *failaware.Node {
	t.Helper()
	cfg := failaware.Config{ID: id, Timing: failaware.LAN(), Broadcast: &failaware.BroadcastConfig{SendOnly: true}}
	for _, p := range peers {
		cfg.Peers = append(cfg.Peers, failaware.Peer{ID: p.ID(), Addr: p.Addr().String()})
	}
	n, err := failaware.Start(context.Background(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = n.Close() })
	return n
}

func scrape(t testing.TB, h http.Handler) string {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	require.Equal(t, http.StatusOK, w.Code)
	return w.Body.String()
}

// value returns the value of a series, or "" if there is none.
func value(text, series string) string {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, series+" "); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

func TestANodeIsScraped(t *testing.T) {
	one := startNode(t, 1)
	two := startNode(t, 2, one)
	m := New(t.Context(), one, Sources{Version: "v1", Traffic: func() Traffic { return Traffic{Sent: 3, DeliveredBytes: 9} },
		Store: func() Store {
			return Store{Accepting: true, Keys: 4, Applied: 7, Failed: 2, Events: map[string]uint64{"merged": 5}}
		},
		Handlers: func() Handlers { return Handlers{Handled: 8, Dropped: 6} }})
	text := ""
	require.Eventually(t, func() bool {
		text = scrape(t, m.Handler())
		return value(text, "failaware_view_members") == "2" && value(text, "failaware_view_up_to_date") == "1" &&
			value(text, `failaware_peer_alive{peer="2"}`) == "1" && value(text, `failaware_events_total{kind="view-installed"}`) != ""
	}, time.Minute, 10*time.Millisecond)
	for series, want := range map[string]string{
		`failaware_node_info{group="default",name="node-1",node="1",version="v1"}`: `1`,
		`failaware_broadcast_messages_total{direction="sent"}`:                     `3`,
		`failaware_broadcast_bytes_total{direction="delivered"}`:                   `9`,
		`failaware_store_accepting`:                                                `1`,
		`failaware_store_items{item="keys"}`:                                       `4`,
		`failaware_store_applied_total`:                                            `7`,
		`failaware_store_submitted_total{outcome="failed"}`:                        `2`,
		`failaware_store_events_total{kind="merged"}`:                              `5`,
		`failaware_handler_events_total{outcome="handled"}`:                        `8`,
		`failaware_handler_events_total{outcome="dropped"}`:                        `6`,
		`failaware_loop_answered`:                                                  `1`,
		`failaware_peers`:                                                          `1`,
		`failaware_dropped_packets_total{reason="damaged"}`:                        `0`,
		`failaware_clock_utc_bound_seconds`:                                        ``,
	} {
		require.Equal(t, want, value(text, series), series)
	}
	for _, series := range []string{`failaware_peer_packets_total{peer="2",speed="fast"}`, `failaware_delay_bound_seconds_count`,
		`failaware_loop_lateness_seconds_count`, `failaware_packets_total{direction="received"}`, `go_goroutines`} {
		require.NotContains(t, []string{"", "0"}, value(text, series), series)
	}
	problems, err := testutil.GatherAndLint(m.registry)
	require.NoError(t, err)
	require.Empty(t, problems)
	require.NoError(t, two.Close())
	require.Eventually(t, func() bool { return value(scrape(t, m.Handler()), `failaware_peer_alive{peer="2"}`) == "0" }, time.Minute, 10*time.Millisecond)
	require.NoError(t, one.Close())
	require.Equal(t, "0", value(scrape(t, m.Handler()), "failaware_view_up_to_date"), "a stopped node can still be scraped")
}

// Members that hold up the broadcast are shown, whatever it is that they do not do.
func TestMembersThatLagAreScraped(t *testing.T) {
	to := make(chan prometheus.Metric, 100)
	(&sink{to: to, known: new(labelSets)}).loop(&failaware.Status{Peers: []failaware.PeerStatus{{ID: 2, Lagging: 3 * time.Second}, {ID: 3},
		{ID: 4, Missing: 5 * time.Second, Lagging: time.Second}}})
	close(to)
	lags := map[string]float64{}
	for m := range to {
		var x dto.Metric
		require.NoError(t, m.Write(&x))
		if m.Desc() == descPeerLag {
			lags[x.Label[0].GetValue()] = x.Gauge.GetValue()
		}
	}
	require.Equal(t, map[string]float64{"2": 3, "4": 5}, lags)
}

func TestEventsAreCounted(t *testing.T) {
	at := time.Unix(1e9, 0)
	head := func(after time.Duration) event.Header { return event.Header{Time: at.Add(after)} }
	c := newEvents(nil)
	c.follow(slices.Values([]event.Event{
		event.ViewFresh{Header: head(0)}, // nothing has ended before
		event.Elected{Header: head(0)},
		event.LeadLost{Header: head(time.Second), Reason: leader.LeaseExpired},
		event.Following{Header: head(2 * time.Second)}, // nobody, still
		event.ViewStale{Header: head(time.Second), Reason: membership.LeaseExpired},
		event.ViewStale{Header: head(2 * time.Second), Reason: membership.LeaseExpired},
		event.Following{Header: head(4 * time.Second), Leader: 2},
		event.Elected{Header: head(5 * time.Second), Global: true},
		event.LeadLost{Header: head(6 * time.Second), Global: true, Reason: leader.NoQuorum},
		event.ViewFresh{Header: head(6 * time.Second)},
		event.ViewStale{Header: head(7 * time.Second)},
		event.Missed{Header: head(8 * time.Second), Count: 5},
		event.ViewFresh{Header: head(99 * time.Second)}, // of a time whose beginning may be missed
	}))
	m := &Metrics{registry: prometheus.NewRegistry()}
	m.registry.MustRegister(c.all()...)
	text := scrape(t, m.Handler())
	for series, want := range map[string]string{
		`failaware_elections_won_total{scope="local"}`:                     `1`,
		`failaware_elections_won_total{scope="global"}`:                    `1`,
		`failaware_leads_lost_total{reason="lease expired",scope="local"}`: `1`,
		`failaware_leads_lost_total{reason="no quorum",scope="global"}`:    `1`,
		`failaware_views_stale_total{reason="lease expired"}`:              `2`,
		`failaware_without_leader_seconds_count`:                           `1`,
		`failaware_without_leader_seconds_sum`:                             `3`,
		`failaware_without_fresh_view_seconds_count`:                       `1`,
		`failaware_without_fresh_view_seconds_sum`:                         `5`,
		`failaware_events_missed_total`:                                    `5`,
		`failaware_events_total{kind="following"}`:                         `2`,
	} {
		require.Equal(t, want, value(text, series), series+"\n"+text)
	}
}

// What an alert asks for is there before it happens: nothing increases in a series that
// begins with the first event.
func TestEventsAreCountedFromTheStart(t *testing.T) {
	n, err := failaware.Start(t.Context(), failaware.Config{ID: 1, Timing: failaware.LAN()})
	require.NoError(t, err)
	defer func() { _ = n.Close() }()
	text := scrape(t, New(t.Context(), n, Sources{Kinds: []string{"clock-fault", "missed"}}).Handler())
	for series, want := range map[string]string{
		`failaware_events_total{kind="clock-fault"}`:                            `0`,
		`failaware_events_total{kind="missed"}`:                                 ``, // has a counter of its own
		`failaware_elections_won_total{scope="global"}`:                         `0`,
		`failaware_leads_lost_total{reason="lease expired",scope="local"}`:      `0`,
		`failaware_leads_lost_total{reason="incarnation ended",scope="global"}`: `0`,
		`failaware_views_stale_total{reason="leader resigned"}`:                 `0`,
		`failaware_leads_globally`:                                              ``, // there is no quorum system
		`failaware_quorum_epoch`:                                                ``,
		`failaware_quorum_voters`:                                               ``,
	} {
		require.Equal(t, want, value(text, series), series)
	}
	require.NotContains(t, text, `"none"`, "no reason is left out")
	for r := leader.NoReason + 1; r.String() != "none"; r++ {
		require.Equal(t, "0", value(text, fmt.Sprintf(`failaware_leads_lost_total{reason="%v",scope="local"}`, r)), "%v", r)
	}
	for r := membership.NoReason + 1; r.String() != "none"; r++ {
		require.Equal(t, "0", value(text, fmt.Sprintf(`failaware_views_stale_total{reason="%v"}`, r)), "%v", r)
	}
}

// A node says whether it leads the whole network, and by which quorum system.
func TestTheGlobalLeadIsScraped(t *testing.T) {
	system, err := quorum.Parse("majority:1,2,3")
	require.NoError(t, err)
	n, err := failaware.Start(t.Context(), failaware.Config{ID: 1, Timing: failaware.LAN(), Quorum: system, QuorumEpoch: 4})
	require.NoError(t, err)
	defer func() { _ = n.Close() }()
	m := New(t.Context(), n, Sources{})
	text := ""
	require.Eventually(t, func() bool {
		text = scrape(t, m.Handler())
		return value(text, "failaware_leads") == "1"
	}, time.Minute, 10*time.Millisecond)
	require.Equal(t, "0", value(text, "failaware_leads_globally"), "one node is no majority")
	require.Equal(t, "0", value(text, "failaware_global_leader_id"))
	require.Equal(t, "4", value(text, "failaware_quorum_epoch"))
	require.Equal(t, "3", value(text, "failaware_quorum_voters"))
	require.Equal(t, "1", value(text, "failaware_quorum_voters_alive"), "itself")

	system, err = quorum.Parse("majority:1")
	require.NoError(t, err)
	alone, err := failaware.Start(t.Context(), failaware.Config{ID: 1, Timing: failaware.LAN(), Quorum: system})
	require.NoError(t, err)
	defer func() { _ = alone.Close() }()
	m = New(t.Context(), alone, Sources{})
	require.Eventually(t, func() bool {
		text = scrape(t, m.Handler())
		return value(text, "failaware_leads_globally") == "1"
	}, time.Minute, 10*time.Millisecond)
	require.Equal(t, "1", value(text, "failaware_global_leader_id"))
}

// name matches the metrics that a page or a rule names.
var name = regexp.MustCompile(`\bfailaware_[a-z_]+`)

var fullName = regexp.MustCompile(`fqName: "([^"]+)"`)

// The rules, the dashboard and the page of the metrics name metrics that exist, and the
// page names all.
func TestEveryNamedMetricExists(t *testing.T) {
	all := map[string]bool{}
	for _, c := range append(newEvents(nil).all(), &state{}) {
		described := make(chan *prometheus.Desc, 100)
		c.Describe(described)
		close(described)
		for d := range described {
			all[fullName.FindStringSubmatch(d.String())[1]] = true
		}
	}
	named := map[string]bool{}
	for _, file := range []string{"../../docs/reference/metrics.md", "../../monitoring/alerts.yaml", "../../monitoring/dashboard.json"} {
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, n := range name.FindAllString(string(b), -1) {
			for _, part := range []string{"_bucket", "_sum", "_count"} {
				if base, ok := strings.CutSuffix(n, part); ok && all[base] {
					n = base
				}
			}
			require.True(t, all[n], "%s names %s, which does not exist", file, n)
			named[n] = named[n] || strings.HasSuffix(file, "metrics.md")
		}
	}
	for n := range all {
		require.True(t, named[n], "docs/reference/metrics.md does not name %s", n)
	}
}

// BenchmarkScrape scrapes a node that knows others, none of which runs: what it measures is
// the scrape alone.
func BenchmarkScrape(b *testing.B) {
	for _, peers := range []int{16, 254} {
		b.Run(fmt.Sprintf("peers=%d", peers), func(b *testing.B) {
			cfg := failaware.Config{ID: 1, Timing: failaware.LAN()}
			for i := range peers {
				cfg.Peers = append(cfg.Peers, failaware.Peer{ID: failaware.NodeID(i + 2), Addr: fmt.Sprintf("127.0.1.1:%d", i+1)})
			}
			n, err := failaware.Start(b.Context(), cfg)
			require.NoError(b, err)
			b.Cleanup(func() { _ = n.Close() })
			h := New(b.Context(), n, Sources{}).Handler()
			require.Equal(b, fmt.Sprint(peers), value(scrape(b, h), "failaware_peers"))
			b.ReportAllocs()
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				scrape(b, h)
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(took[len(took)/2].Seconds()*1000, "p50-ms")
			b.ReportMetric(took[len(took)*99/100].Seconds()*1000, "p99-ms")
		})
	}
}
