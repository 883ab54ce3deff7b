package demo

import (
	"net/http"

	"github.com/failaware/failaware/internal/api"
)

// WebWorld is all that the page shows, at one moment. Durations are nanoseconds.
type WebWorld struct {
	Preset     string    `json:"preset"`
	ElapsedNS  int64     `json:"elapsed_ns"`
	Checks     uint64    `json:"checks"` // of the promises
	Violations []string  `json:"violations"`
	SlowNS     int64     `json:"slow_ns"` // the delay that a slow link adds
	Nodes      []WebNode `json:"nodes"`
	Links      []WebLink `json:"links"` // that are cut or slow
}

// WebNode is one node.
type WebNode struct {
	Node       int         `json:"node"`
	State      string      `json:"state"`
	ForNS      int64       `json:"for_ns"` // in this state
	StaleForNS int64       `json:"stale_for_ns"`
	OffsetNS   *int64      `json:"offset_ns"` // the true distance of its clock from its leader's
	Delivered  uint64      `json:"delivered"` // messages of the broadcast
	LatencyNS  int64       `json:"latency_ns"`
	Status     *api.Status `json:"status"` // null if it does not run
}

// WebLink is a direction of a link with a fault.
type WebLink struct {
	From    int   `json:"from"`
	To      int   `json:"to"`
	Cut     bool  `json:"cut"`
	AddedNS int64 `json:"added_ns"`
}

// look answers with the present state.
func (s *Web) look(w http.ResponseWriter, _ *http.Request) {
	m := s.world.Look()
	out := WebWorld{Preset: m.Preset, ElapsedNS: int64(m.Elapsed), Checks: m.Rounds, Violations: m.Violations,
		SlowNS: int64(s.world.slowness(true)), Links: []WebLink{}}
	places := s.world.places()
	for i := range m.Nodes {
		n := &m.Nodes[i]
		out.Nodes = append(out.Nodes, s.node(n, &places[i]))
		for j, h := range n.Hears {
			if h.Link.Cut || h.Link.Delay > 0 {
				out.Links = append(out.Links, WebLink{j + 1, int(n.ID), h.Link.Cut, int64(h.Link.Delay)})
			}
		}
	}
	api.Answer(w, http.StatusOK, out)
}

// node returns the wire form of a node. The answers that the node reads from its clock
// are of the present, also of a paused node; the others are of its latest status.
func (s *Web) node(n *NodeModel, p *place) WebNode {
	w := WebNode{Node: int(n.ID), State: n.State.String(), ForNS: int64(n.For), StaleForNS: int64(n.StaleFor)}
	if p.life == nil {
		return w
	}
	w.Delivered, w.LatencyNS = p.life.delivered.Load(), p.life.latency.Load()
	if n.OffsetKnown {
		ns := int64(n.Offset)
		w.OffsetNS = &ns
	}
	if p.status == nil {
		return w
	}
	status, cfg := *p.status, p.life.node.Config()
	status.Leader, status.View, status.Clock = n.Leader, n.View, n.Clock
	out := api.StatusOf(&status, &cfg, s.version)
	w.Status = &out
	return w
}
