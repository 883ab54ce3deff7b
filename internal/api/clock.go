package api

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/clocksync"
)

// Sources is the answer of /v1/clock/sources.
type Sources struct {
	Sources []Source `json:"sources"`
	// UTCProblem says why UTC is not known, or not for long; empty if it is.
	UTCProblem string `json:"utc_problem,omitempty"`
}

// Source is the answering node's knowledge of one external reference of time.
type Source struct {
	Source  string `json:"source"` // names it at all nodes; empty before its first sample
	Name    string `json:"name,omitempty"`
	Node    int    `json:"node"` // the node that asks it
	Address string `json:"address,omitempty"`
	// Verdict is good, falseticker, disputed while no majority of the references agrees, unjudged
	// while they prove nothing about UTC, or none while this one has no valid samples.
	Verdict  string `json:"verdict"`
	OffsetNS *int64 `json:"offset_ns"`
	BoundNS  *int64 `json:"bound_ns"`
	AgeNS    *int64 `json:"age_ns"`
	Leap     string `json:"leap,omitempty"`

	// The following are set for references that the answering node asks itself.
	Own        bool   `json:"own"`
	Stratum    int    `json:"stratum"`
	PollNS     int64  `json:"poll_ns"`
	Reach      int    `json:"reach"`
	Sent       uint64 `json:"sent"`
	Samples    uint64 `json:"samples"`
	Rejected   uint64 `json:"rejected"`
	Reason     string `json:"reason,omitempty"` // why an answer was rejected, the last time
	Error      string `json:"error,omitempty"`  // why a question failed, the last time
	DelayNS    int64  `json:"delay_ns"`
	DistanceNS int64  `json:"distance_ns"`
	Gone       bool   `json:"gone"`
}

func sourceText(id clocksync.SourceID) string {
	if id == 0 {
		return ""
	}
	return fmt.Sprintf("%016x", uint64(id))
}

func sourceOf(r *failaware.ReferenceStatus, utc clocksync.Knowledge) Source {
	s := Source{Source: sourceText(r.Source), Name: r.Name, Node: int(r.Node), Address: r.Address, Verdict: "none",
		Own: r.Name != "", Stratum: r.Stratum, PollNS: int64(r.Poll), Reach: int(r.Reach), Sent: r.Sent, Samples: r.Samples,
		Rejected: r.Rejected, Reason: r.Reason, Error: r.Error, DelayNS: int64(r.Delay), DistanceNS: int64(r.Distance), Gone: r.Gone}
	if !r.Known {
		return s
	}
	offset, bound, age := int64(r.Offset), int64(r.Bound), int64(r.Age)
	s.OffsetNS, s.BoundNS, s.AgeNS, s.Leap, s.Verdict = &offset, &bound, &age, r.Leap.String(), verdictOf(r, utc)
	return s
}

// verdictOf returns the verdict on a reference with valid samples.
func verdictOf(r *failaware.ReferenceStatus, utc clocksync.Knowledge) string {
	switch {
	case utc.State == clocksync.UTCDisputed:
		return "disputed"
	case utc.State == clocksync.UTCKnown && r.Falseticker:
		return "falseticker"
	case utc.Judges():
		return "good"
	}
	return "unjudged"
}

func (s *Server) sources(w http.ResponseWriter, _ *http.Request) {
	all, utc := s.node.ReferencesOfUTC()
	list := Sources{Sources: []Source{}, UTCProblem: utcProblem(utc)}
	for i := range all {
		list.Sources = append(list.Sources, sourceOf(&all[i], utc))
	}
	Answer(w, http.StatusOK, list)
}

// History is the answer of /v1/clock/history.
type History struct {
	EveryNS int64        `json:"every_ns"`
	Points  []ClockPoint `json:"points"` // the oldest first
}

// ClockPoint is one reading of the clock.
type ClockPoint struct {
	TimeNS      int64  `json:"time_ns"`
	DeviationNS *int64 `json:"deviation_ns"`
	UTCBoundNS  *int64 `json:"utc_bound_ns"`
	Status      string `json:"status"`
	Timeline    string `json:"timeline,omitempty"`
}

const (
	// historyEvery is the interval between readings in the history, and MaxHistory
	// is the number of readings kept: ten minutes.
	historyEvery = time.Second
	MaxHistory   = 600
)

// clockHistory keeps the latest readings of the clock.
type clockHistory struct {
	mu   sync.Mutex
	ring [MaxHistory]failaware.Reading
	n    int // readings ever added
}

func (h *clockHistory) add(r failaware.Reading) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ring[h.n%MaxHistory] = r
	h.n++
}

// points returns the kept readings, the oldest first.
func (h *clockHistory) points() []ClockPoint {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := []ClockPoint{}
	for i := max(0, h.n-MaxHistory); i < h.n; i++ {
		r := &h.ring[i%MaxHistory]
		list = append(list, ClockPoint{int64(r.Time), known(r.Deviation, clocksync.UnknownBound),
			known(r.UTCBound, clocksync.UnknownBound), r.Status.String(), idText(r.Timeline)})
	}
	return list
}

// fill reads the clock until ctx is done.
func (h *clockHistory) fill(ctx context.Context, n *failaware.Node) {
	tick := time.NewTicker(historyEvery)
	defer tick.Stop()
	for {
		h.add(n.Clock())
		select {
		case <-ctx.Done():
			return
		case <-n.Done():
			return
		case <-tick.C:
		}
	}
}

func (s *Server) history(w http.ResponseWriter, _ *http.Request) {
	Answer(w, http.StatusOK, History{int64(historyEvery), s.past.points()})
}
