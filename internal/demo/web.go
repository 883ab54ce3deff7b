package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"slices"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/dashboard"
	"github.com/failaware/failaware/timed"
)

// Web serves the page of the demonstration, and what the page reads:
//
//	GET  /demo/world   a WebWorld
//	GET  /demo/events  the events of all nodes, and the faults, as in the API of a node
//	GET  /demo/why     why a part of a node is as it is: ?node=N&about=S, as in its API
//	POST /demo/fault   a WebFault; the answer is a WebEffect
//
// It needs no token: the nodes are those of the demonstration only, and nothing about
// them is secret. Pages of other sites can neither read from it nor inject faults.
type Web struct {
	world   *World
	streams *api.Streams
	version string
}

// NewWeb returns what serves the page of a world until ctx is done.
func NewWeb(ctx context.Context, w *World, version string) *Web {
	return &Web{world: w, streams: api.NewStreams(ctx), version: version}
}

// Serve answers on a listener at a loopback address until ctx is done.
func (s *Web) Serve(ctx context.Context, l net.Listener) error {
	return api.ServeUntil(ctx, l, s.Handler())
}

// Handler returns the handler of all paths.
func (s *Web) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /demo/world", s.look)
	mux.HandleFunc("GET /demo/events", s.events)
	mux.HandleFunc("GET /demo/why", s.why)
	mux.HandleFunc("POST /demo/fault", s.fault)
	mux.Handle("/", dashboard.Handler(dashboard.Demo))
	return api.Loopback(mux)
}

// events streams the happenings: new ones, or those from Last-Event-ID or ?since= on.
func (s *Web) events(w http.ResponseWriter, q *http.Request) {
	s.streams.Serve(w, q, s.world.history.ring.Last(), func(ctx context.Context, seq uint64) iter.Seq[[]byte] {
		return func(yield func([]byte) bool) {
			for at, e := range s.world.history.since(ctx, seq) {
				e.ID, e.Sequence = s.streams.ID(at), at
				if !yield(s.streams.Message(at, e.Kind, e)) {
					return
				}
			}
		}
	})
}

// why explains a part of a node.
func (s *Web) why(w http.ResponseWriter, q *http.Request) {
	id, err := timed.ParseNodeID(q.URL.Query().Get("node"))
	var l *life
	if err == nil && s.world.All().Has(id) {
		l = s.world.lifeOf(id)
	}
	if l == nil {
		api.Fail(w, http.StatusNotFound, fmt.Errorf("node %.20q does not run", q.URL.Query().Get("node")))
		return
	}
	a, err := api.Explain(l.node, l.causes, q.URL.Query().Get("about"), "")
	if err != nil {
		api.Fail(w, http.StatusBadRequest, err)
		return
	}
	api.Answer(w, http.StatusOK, a)
}

// WebFault is an action of the page's user. The nodes are those that are selected, in the
// order of their selection.
type WebFault struct {
	Action string `json:"action"`
	Nodes  []int  `json:"nodes"`
	OneWay bool   `json:"one_way"` // cut and slow: only away from the first node
}

// WebEffect describes the effect of an action.
type WebEffect struct {
	Text string `json:"text"`
}

// actions are the keys of the terminal that do the same, and those for one way.
var actions = map[string][2]rune{
	"split":  {'x', 'x'},
	"heal":   {'h', 'h'},
	"cut":    {'c', 'C'},
	"slow":   {'s', 'S'},
	"pause":  {'p', 'p'},
	"crash":  {'k', 'k'},
	"resign": {'r', 'r'},
}

// maxFault is the size of the largest WebFault.
const maxFault = 4 << 10

// fault performs an action.
func (s *Web) fault(w http.ResponseWriter, q *http.Request) {
	var f WebFault
	err := json.NewDecoder(io.LimitReader(q.Body, maxFault)).Decode(&f)
	keys, known := actions[f.Action]
	switch {
	case err != nil:
		err = fmt.Errorf("the request is no action: %w", err)
	case !known:
		err = fmt.Errorf("there is no action %.20q", f.Action)
	case len(f.Nodes) > MaxNodes:
		err = errors.New("there are not so many nodes")
	}
	k := controls{world: s.world}
	for _, n := range f.Nodes {
		id := failaware.NodeID(n)
		if err == nil && (n != int(id) || !s.world.All().Has(id) || slices.Contains(k.face.Selected, id)) {
			err = fmt.Errorf("there is no node %d, or it is named twice", n)
		}
		k.face.Selected = append(k.face.Selected, id)
	}
	if err != nil {
		api.Fail(w, http.StatusBadRequest, err)
		return
	}
	key := keys[0]
	if f.OneWay {
		key = keys[1]
	}
	k.press(key)
	api.Answer(w, http.StatusOK, WebEffect{k.face.Hint})
}
