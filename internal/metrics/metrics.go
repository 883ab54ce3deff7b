// Package metrics tells Prometheus about a node. docs/reference/metrics.md lists what there is.
//
// The state of a node is read when it is scraped: one question to its loop, which the
// loop answers at the end of a turn. What happens in between is counted from the node's
// events, by a consumer like all others. So no scraper delays the node.
//
// Labels have few values: ids of nodes, and names of kinds and reasons that are in the
// program.
package metrics

import (
	"context"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/failaware/failaware"
)

const namespace = "failaware"

// Traffic counts the messages of a program that broadcasts for others.
type Traffic struct {
	Sent, SentBytes           uint64
	Delivered, DeliveredBytes uint64
}

// Metrics are those of one node.
type Metrics struct {
	registry *prometheus.Registry
}

// New returns the metrics of a node of a program's version. It consumes the node's events
// until the node stops or ctx is done. traffic may be nil.
func New(ctx context.Context, n *failaware.Node, version string, traffic func() Traffic) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry()}
	events := newEvents()
	m.registry.MustRegister(&state{node: n, version: version, traffic: traffic}, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.registry.MustRegister(events.all()...)
	go events.follow(n.EventsSince(ctx, 0))
	return m
}

// Handler answers scrapes.
func (m *Metrics) Handler() http.Handler {
	return handler{m.registry, make(chan struct{}, mostScrapes)}
}
