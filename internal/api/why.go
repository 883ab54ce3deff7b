package api

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/why"
	"github.com/failaware/failaware/timed"
)

// Why explains the present state of a part of a node, by the latest causes.
type Why struct {
	About  string  `json:"about"`
	State  string  `json:"state"`  // now, for people
	Causes []Cause `json:"causes"` // the latest first, at most why.MaxCauses
}

// Cause is an event with what led to it.
type Cause struct {
	Event   Event   `json:"event"`
	Because []Event `json:"because"` // earlier events that led to it, the latest first
	Rule    string  `json:"rule,omitempty"`
}

// WhySubjects are the subjects besides ids of nodes.
func WhySubjects() []string { return []string{"leader", "view", "clock"} }

// recordCauses keeps the causes of the node's state until the server is closed.
func (s *Server) recordCauses() {
	for e := range s.node.EventsSince(s.ctx, 0) {
		s.last.Store(e.Head().Sequence)
		s.causes.Note(e)
	}
}

func (s *Server) why(w http.ResponseWriter, q *http.Request) {
	about := q.URL.Query().Get("about")
	subject, state := why.Leader, ""
	switch about {
	case "leader":
		state = s.node.Leader().String()
	case "view":
		subject, state = why.View, s.node.View().String()
	case "clock":
		subject, state = why.Clock, s.node.Clock().String()
	default:
		id, err := timed.ParseNodeID(about)
		if err != nil {
			Fail(w, http.StatusBadRequest, fmt.Errorf("about: %.40q is neither leader, view, clock nor the id of a node", about))
			return
		}
		if id == s.node.ID() {
			Fail(w, http.StatusBadRequest, fmt.Errorf("about: node %v is this node: ask about leader, view or clock", id))
			return
		}
		subject, state = why.Node(id), peerState(s.node, id)
	}
	a := Why{About: about, State: state, Causes: []Cause{}}
	for _, c := range s.causes.Explain(subject) {
		a.Causes = append(a.Causes, s.causeOf(&c))
	}
	Answer(w, http.StatusOK, a)
}

func (s *Server) causeOf(c *why.Cause) Cause {
	of := func(e event.Event) Event { return EventOf(e, s.node.ID(), s.streams.run) }
	a := Cause{Event: of(c.Event), Because: []Event{}, Rule: c.Rule}
	for _, e := range c.Because {
		a.Because = append(a.Because, of(e))
	}
	return a
}

// peerState says what the node knows of a peer now.
func peerState(n *failaware.Node, id timed.NodeID) string {
	peers := n.Status().Peers
	if i := slices.IndexFunc(peers, func(p failaware.PeerStatus) bool { return p.ID == id }); i >= 0 {
		return peers[i].String()
	}
	return fmt.Sprintf("node %v: this node has never heard of it", id)
}
