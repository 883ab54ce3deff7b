package metrics

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
)

// bounded are all labels, with the most values of each: ids of peers, names that are in the
// program, and those of the node itself. A label with values from outside has no place here.
var bounded = map[string]int{
	"version": 1, "node": 1, "name": 1, "group": 1, "peer": 254, "speed": 2, "direction": 3, "scope": 2, "outcome": 5, "item": 3,
	"operation": 2, "error": 32, "reason": 64, "counter": 64, "kind": 128,
}

var (
	labels = regexp.MustCompile(`variableLabels: \{([^}]*)\}`)
	pair   = regexp.MustCompile(`([a-z_]+)="([^"]*)"`)
)

func TestLabelsAreBounded(t *testing.T) {
	n := startNode(t, 1)
	m := New(t.Context(), n, Sources{Store: func() Store { return Store{} }, Handlers: func() Handlers { return Handlers{} }, Traffic: func() Traffic { return Traffic{} }})
	for _, c := range append(newEvents(nil).all(), &state{}) {
		described := make(chan *prometheus.Desc, 100)
		c.Describe(described)
		close(described)
		for d := range described {
			for label := range strings.SplitSeq(labels.FindStringSubmatch(d.String())[1], ",") {
				require.True(t, label == "" || bounded[label] > 0, "%s: %s", label, d)
			}
		}
	}
	values := map[string]map[string]bool{}
	for line := range strings.Lines(scrape(t, m.Handler())) {
		if !strings.HasPrefix(line, namespace+"_") {
			continue // of the Go runtime, or a comment
		}
		for _, p := range pair.FindAllStringSubmatch(line, -1) {
			if values[p[1]] == nil {
				values[p[1]] = map[string]bool{}
			}
			values[p[1]][p[2]] = true
		}
	}
	for label, most := range bounded {
		require.LessOrEqual(t, len(values[label]), most, label)
	}
}

// BenchmarkBeside measures messages from one node to another in turns: alone, and while the
// sender is scraped a hundred times a second.
func BenchmarkBeside(b *testing.B) {
	start := func(id failaware.NodeID, peers ...failaware.Peer) *failaware.Node {
		n, err := failaware.Start(context.Background(), failaware.Config{ID: id, Timing: failaware.LAN(), Peers: peers, Broadcast: &failaware.BroadcastConfig{}})
		require.NoError(b, err)
		b.Cleanup(func() { _ = n.Close() })
		return n
	}
	from := start(1)
	to := start(2, failaware.Peer{ID: 1, Addr: from.Addr().String()})
	go drain(b.Context(), from)
	h := New(b.Context(), from, Sources{}).Handler()
	require.Eventually(b, func() bool { return from.View().View.Set.Len() == 2 && to.View().View.Set.Len() == 2 }, time.Minute, time.Millisecond)
	batch := make([]failaware.Delivery, 64)
	send := func() time.Duration {
		began := time.Now()
		id, err := from.Broadcast(b.Context(), []byte("message"), failaware.BroadcastOptions{})
		require.NoError(b, err)
		for {
			k, err := to.Receive(b.Context(), batch)
			require.NoError(b, err)
			if slices.ContainsFunc(batch[:k], func(d failaware.Delivery) bool { return d.ID == id }) {
				return time.Since(began)
			}
		}
	}
	const turn = 200
	var took [2][]time.Duration // alone, scraped
	var scrapes []time.Duration
	for b.Loop() {
		for range turn {
			took[0] = append(took[0], send())
		}
		ctx, cancel := context.WithCancel(b.Context())
		ended := make(chan []time.Duration)
		go func() { ended <- scrapeOften(ctx, h) }()
		for range turn {
			took[1] = append(took[1], send())
		}
		cancel()
		scrapes = append(scrapes, <-ended...)
	}
	for i, what := range []string{"alone", "scraped"} {
		slices.Sort(took[i])
		b.ReportMetric(float64(took[i][len(took[i])/2].Microseconds()), what+"-median-µs")
	}
	slices.Sort(scrapes)
	half := scrapes[len(scrapes)/2]
	b.ReportMetric(scrapes[len(scrapes)*99/100].Seconds()*1000, "scrape-p99-ms")
	fmt.Printf("aim: half of the scrapes at most 5 ms, beside a sender at full speed: %.2g, %v\n", half.Seconds()*1000, half <= 5*time.Millisecond)
}

// drain takes the deliveries of a node.
func drain(ctx context.Context, n *failaware.Node) {
	batch := make([]failaware.Delivery, 64)
	for {
		if _, err := n.Receive(ctx, batch); err != nil {
			return
		}
	}
}

// scrapeOften scrapes a hundred times a second, and returns how long each scrape took.
func scrapeOften(ctx context.Context, h http.Handler) (took []time.Duration) {
	for {
		began := time.Now()
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/metrics", nil))
		took = append(took, time.Since(began))
		select {
		case <-ctx.Done():
			return took
		case <-time.After(10 * time.Millisecond):
		}
	}
}
