package metrics

import (
	"iter"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
)

// events counts the events of a node, and measures the times between some of them.
type events struct {
	kinds     *prometheus.CounterVec
	elections *prometheus.CounterVec
	lost      *prometheus.CounterVec
	stale     *prometheus.CounterVec
	missed    prometheus.Counter

	withoutView, withoutLeader prometheus.Histogram

	noView, noLeader time.Time // since when; zero if there is one, or has been none yet
}

// newEvents returns counters that begin with 0, because a query sees no increase in a series
// that begins with its first event. Only kinds that the node does not know begin like that.
func newEvents(kinds []string) *events {
	count := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
	}
	times := func(name, help string) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help,
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 17)})
	}
	c := &events{
		kinds:     count("events_total", "Events of the node.", "kind"),
		elections: count("elections_won_total", "How often the node began to lead.", "scope"),
		lost:      count("leads_lost_total", "How often the node stopped leading.", "scope", "reason"),
		stale:     count("views_stale_total", "How often the node's view ceased to be up to date.", "reason"),
		missed: prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: "events_missed_total",
			Help: "Events that came too fast to be counted."}),
		withoutView:   times("without_fresh_view_seconds", "Times without an up-to-date view, from the end of one to the beginning of the next."),
		withoutLeader: times("without_leader_seconds", "Times without a leader, from the event that there is none to the next leader."),
	}
	for _, kind := range kinds {
		if kind != (event.Missed{}).Kind() { // has a counter of its own
			c.kinds.WithLabelValues(kind)
		}
	}
	for _, global := range []bool{false, true} {
		c.elections.WithLabelValues(scope(global))
		for r := leader.NoReason + 1; r <= leader.NoQuorum; r++ {
			c.lost.WithLabelValues(scope(global), r.String())
		}
	}
	for r := membership.NoReason + 1; r <= membership.Distrusted; r++ {
		c.stale.WithLabelValues(r.String())
	}
	return c
}

func (c *events) all() []prometheus.Collector {
	return []prometheus.Collector{c.kinds, c.elections, c.lost, c.stale, c.missed, c.withoutView, c.withoutLeader}
}

func (c *events) follow(list iter.Seq[event.Event]) {
	for e := range list {
		c.count(e)
	}
}

// count counts an event.
func (c *events) count(e event.Event) {
	at := e.Head().Time
	if m, ok := e.(event.Missed); ok {
		c.missed.Add(float64(m.Count))
		c.noView, c.noLeader = time.Time{}, time.Time{} // their ends may be among the missed ones
		return
	}
	c.kinds.WithLabelValues(e.Kind()).Inc()
	switch e := e.(type) {
	case event.Elected:
		c.elections.WithLabelValues(scope(e.Global)).Inc()
		if !e.Global {
			end(&c.noLeader, at, c.withoutLeader)
		}
	case event.LeadLost:
		c.lost.WithLabelValues(scope(e.Global), e.Reason.String()).Inc()
		if !e.Global {
			begin(&c.noLeader, at)
		}
	case event.Following:
		if e.Leader == failaware.NoNode {
			begin(&c.noLeader, at)
		} else {
			end(&c.noLeader, at, c.withoutLeader)
		}
	case event.ViewStale:
		c.stale.WithLabelValues(e.Reason.String()).Inc()
		begin(&c.noView, at)
	case event.ViewFresh:
		end(&c.noView, at, c.withoutView)
	}
}

func begin(since *time.Time, at time.Time) {
	if since.IsZero() {
		*since = at
	}
}

func end(since *time.Time, at time.Time, times prometheus.Histogram) {
	if !since.IsZero() {
		times.Observe(max(at.Sub(*since), 0).Seconds())
		*since = time.Time{}
	}
}

func scope(global bool) string {
	if global {
		return "global"
	}
	return "local"
}
