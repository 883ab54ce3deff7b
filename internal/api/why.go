package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/why"
	"github.com/failaware/failaware/leader/quorum"
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
	a, err := Explain(s.node, s.causes, q.URL.Query().Get("about"), s.streams.run)
	if err != nil {
		Fail(w, http.StatusBadRequest, err)
		return
	}
	s.flagsOfWhy(&a)
	Answer(w, http.StatusOK, a)
}

// flagsOfWhy has the texts of an explanation name flags.
func (s *Server) flagsOfWhy(a *Why) {
	a.State = s.inFlags(a.State)
	for i := range a.Causes {
		c := &a.Causes[i]
		c.Event.Text = s.inFlags(c.Event.Text)
		for j := range c.Because {
			c.Because[j].Text = s.inFlags(c.Because[j].Text)
		}
	}
}

// Explain returns why a part of a node is as it is, from a record of the node's events.
// run is that of their ids.
func Explain(n *failaware.Node, causes *why.Record, about, run string) (a Why, err error) {
	subject, state := why.Leader, ""
	switch about {
	case "leader":
		a := n.Leader()
		state = strings.Replace(a.String(), "node "+a.Leader.String(), event.NodeText(n, a.Leader), 1)
		if s := n.Status(); s.Age >= 0 {
			state += globalText(n.Epoch().System, n.GlobalLeader(), s.Alive.With(n.ID()))
		}
	case "view":
		subject, state = why.View, n.View().String()
	case "clock":
		subject, state = why.Clock, clockState(n)
	default:
		id, err := timed.ParseNodeID(about)
		if err != nil {
			return a, fmt.Errorf("about: %.40q is neither leader, view, clock nor the id of a node", about)
		}
		if id == n.ID() {
			return a, fmt.Errorf("about: node %v is this node: ask about leader, view or clock", id)
		}
		subject, state = why.Node(id), peerState(n, id)
	}
	of := func(e event.Event) Event { return EventOf(e, n.ID(), run) }
	a = Why{About: about, State: state, Causes: []Cause{}}
	for _, c := range causes.Explain(subject) {
		w := Cause{Event: of(c.Event), Because: []Event{}, Rule: c.Rule}
		for _, e := range c.Because {
			w.Because = append(w.Because, of(e))
		}
		a.Causes = append(a.Causes, w)
	}
	return a, nil
}

// clockState says what the clock shows now, and why UTC is not known.
func clockState(n *failaware.Node) string {
	r, cfg := n.Clock(), n.Config()
	text := r.String()
	if why := clockProblem(r, &cfg); why != "" {
		text += "; " + why
	}
	if _, k := n.ReferencesOfUTC(); k.Lack != clocksync.LackNothing {
		text += "; " + k.String()
	}
	return text
}

// globalText says who leads globally at a node that hears some nodes, or that too few hear
// each other, if there is a quorum system.
func globalText(system string, a failaware.LeaderAnswer, heard timed.Set) string {
	q, err := quorum.Parse(system)
	switch {
	case err != nil:
		return ""
	case a.Leads:
		return "; it also leads globally"
	case a.Leader != failaware.NoNode:
		return "; node " + a.Leader.String() + " leads globally, as heard"
	}
	voters := q.Members().Intersect(heard)
	if voters.Empty() {
		return "; nobody is known to lead globally: no voter of " + system + " is in touch"
	}
	are := " are no quorum of "
	if q.IsQuorum(heard) {
		are = " are a quorum of "
	}
	return "; nobody is known to lead globally: the voters in touch, " + voters.String() + "," + are + system
}

// peerState says what the node knows of a peer now.
func peerState(n *failaware.Node, id timed.NodeID) string {
	s, err := statusOf(n)
	if err != nil {
		return fmt.Sprintf("node %v: not known: %v", id, err)
	}
	return peerText(&s, id)
}

// peerText is peerState for a status. A peer that lacks the key of this node's packets cannot
// hear it, and may look as if it were silent.
func peerText(s *failaware.Status, id failaware.NodeID) string {
	i := slices.IndexFunc(s.Peers, func(p failaware.PeerStatus) bool { return p.ID == id })
	if i < 0 {
		return fmt.Sprintf("node %v: this node has never heard of it", id)
	}
	p := &s.Peers[i]
	text := p.String() + lackedKey(s, p)
	if other := AtItsAddress(s, p); other != "" {
		text += "; " + other
	}
	return text
}

// AtItsAddress says which other node answers at the address of a peer that does not, if any.
func AtItsAddress(s *failaware.Status, p *failaware.PeerStatus) string {
	for i := range s.Peers {
		if o := &s.Peers[i]; !p.Alive && o.Alive && o.ID != p.ID && p.Addr.IsValid() && o.Addr == p.Addr {
			return fmt.Sprintf("node %v answers at its address, %v", o.ID, o.Addr)
		}
	}
	return ""
}

// Refusal says why packets of a peer do not count, or is "".
func Refusal(s *failaware.Status, p *failaware.PeerStatus) string {
	switch {
	case p.Refused == "":
		return ""
	case p.Addr.IsValid() && p.Addr == s.Addr:
		return "it is listed at the address of this node itself"
	}
	return p.Refused + lackedKey(s, p)
}

// lackedKey is what follows the state of a peer that lacks the key of this node's packets, and
// "" for others.
func lackedKey(s *failaware.Status, p *failaware.PeerStatus) string {
	if len(s.Keys) == 0 || len(p.Keys) == 0 || slices.Contains(p.Keys, s.Keys[0]) {
		return ""
	}
	return fmt.Sprintf("; as it said last, it lacks the key %v of this node's packets ('failaware keys' shows who has which)", s.Keys[0])
}
