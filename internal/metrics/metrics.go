// Package metrics tells Prometheus about a node. docs/reference/metrics.md lists what there is.
//
// The state of a node is read when it is scraped: one question to its loop, which the
// loop answers at the end of a turn. Events in between are counted by a consumer like all
// others. So no scraper delays the node.
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

// Store says what a store of keys and values has done since its start, and what it holds.
type Store struct {
	Accepting                      bool // operations are taken
	Behind                         int  // operations that are delivered and not applied yet
	Keys, Bytes, Leases, Conflicts int
	Applied                        uint64            // operations, of all nodes
	Submitted, Failed              uint64            // by this node: with a result, and without
	Events                         map[string]uint64 // of the replicated state, by their kinds
}

// Handlers says what became of the events for commands and webhooks.
type Handlers struct{ Handled, Failed, Dropped uint64 }

// Sources tell what the node itself does not know. A function that is nil tells nothing.
type Sources struct {
	Version  string   // of the program
	Kinds    []string // of the events that there can be
	Traffic  func() Traffic
	Store    func() Store
	Handlers func() Handlers
	Refused  func() uint64 // requests for which the API had no connection left
}

// Metrics are those of one node.
type Metrics struct {
	registry *prometheus.Registry
}

// New returns the metrics of a node. It consumes the node's events until the node stops or
// ctx is done.
func New(ctx context.Context, n *failaware.Node, from Sources) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry()}
	events := newEvents(from.Kinds)
	m.registry.MustRegister(&state{node: n, Sources: from}, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.registry.MustRegister(events.all()...)
	go events.follow(n.EventsSince(ctx, 0))
	return m
}

// Handler answers scrapes.
func (m *Metrics) Handler() http.Handler {
	return handler{m.registry, make(chan struct{}, mostScrapes)}
}
