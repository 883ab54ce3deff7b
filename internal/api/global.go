package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/timed"
)

// Global is the answer of /v1/global.
type Global struct {
	Leader   int    `json:"leader"`
	Boot     string `json:"boot,omitempty"`
	Leads    bool   `json:"leads"`
	UpToDate bool   `json:"up_to_date"`
	AtMostNS int64  `json:"at_most_ns"`
	AsOfNS   int64  `json:"as_of_ns"`
	SinceNS  int64  `json:"since_ns"`
	Quorum   string `json:"quorum,omitempty"`
	Epoch    uint64 `json:"epoch"`
	Missing  []int  `json:"missing,omitempty"` // voters of Quorum that are not alive, as far as the node hears
}

// Verification is the answer of /v1/verify.
type Verification struct {
	Node     int    `json:"node"`
	Boot     string `json:"boot"`
	GlobalNS int64  `json:"global_ns"`
	LocalNS  int64  `json:"local_ns"`
	Names    int    `json:"names"` // the node that it follows, by its own answer
}

// verifyLimit is how long a node waits for the answer of another node. It is shorter than the
// time for which clients wait.
const verifyLimit = 4 * time.Second

func (s *Server) global(w http.ResponseWriter, _ *http.Request) {
	Answer(w, http.StatusOK, globalOf(s.node.Epoch(), s.node.GlobalLeader()))
}

func globalOf(e failaware.EpochAnswer, a failaware.LeaderAnswer) Global {
	return Global{Leader: int(a.Leader), Boot: bootText(a.Boot), Leads: a.Leads, UpToDate: a.UpToDate,
		AtMostNS: int64(a.AtMost), AsOfNS: int64(a.AsOf), SinceNS: int64(a.Since), Quorum: e.System, Epoch: e.Epoch, Missing: setOf(e.Missing)}
}

func (s *Server) verify(w http.ResponseWriter, q *http.Request) {
	id, err := timed.ParseNodeID(q.URL.Query().Get("node"))
	if err != nil {
		Fail(w, http.StatusBadRequest, fmt.Errorf("node: %w", err))
		return
	}
	if s.neverHeard(id) {
		Fail(w, http.StatusNotFound, fmt.Errorf("node %v: this node has never heard of it", id))
		return
	}
	ctx, cancel := context.WithTimeoutCause(q.Context(), verifyLimit, fmt.Errorf("node %v has not answered within %v", id, verifyLimit))
	defer cancel()
	v, err := s.node.Verify(ctx, id)
	s.answerVerified(w, v, err)
}

// neverHeard reports whether the node knows no address of another one, and cannot ask it.
func (s *Server) neverHeard(id failaware.NodeID) bool {
	status := s.node.Status()
	return id != s.node.ID() && status.Age >= 0 &&
		!slices.ContainsFunc(status.Peers, func(p failaware.PeerStatus) bool { return p.ID == id })
}

// answerVerified answers with a node's statement about itself, or with an error.
func (s *Server) answerVerified(w http.ResponseWriter, v failaware.Verification, err error) {
	switch {
	case err == nil:
		Answer(w, http.StatusOK, s.verified(v))
	case errors.Is(err, failaware.ErrClosed):
		Fail(w, http.StatusServiceUnavailable, err)
	default:
		Fail(w, http.StatusGatewayTimeout, err)
	}
}

func (s *Server) verified(v failaware.Verification) Verification {
	local, global := v.ValidFor(), v.GlobalValidFor() // in this order: each reads the clock, and local is the larger
	a := Verification{Node: int(v.By.Node), Boot: bootText(v.By.Boot), GlobalNS: int64(global), LocalNS: int64(local)}
	if local > 0 {
		return a
	}
	status := s.node.Status()
	if v.By.Node == s.node.ID() {
		a.Names = int(status.Leader.Leader)
	}
	for i := range status.Peers {
		if p := &status.Peers[i]; p.ID == v.By.Node {
			a.Names = int(p.LockedTo)
		}
	}
	return a
}

func (s *Server) find(w http.ResponseWriter, q *http.Request) {
	global, err := flagOf(q, "global", false)
	if err != nil {
		Fail(w, http.StatusBadRequest, err)
		return
	}
	ctx, cancel := context.WithTimeoutCause(q.Context(), verifyLimit, fmt.Errorf("within %v", verifyLimit))
	defer cancel()
	search := s.node.FindLeader
	if global {
		search = s.node.FindGlobalLeader
	}
	v, err := search(ctx)
	if errors.Is(err, failaware.ErrNoLeader) && ctx.Err() == nil {
		Fail(w, http.StatusConflict, err) // it has not begun
		return
	}
	s.answerVerified(w, v, err)
}

// successor reads the optional successor of a resigning leader.
func successor(q *http.Request) (to failaware.NodeID, err error) {
	values := q.URL.Query()
	if !values.Has("to") {
		return failaware.NoNode, nil
	}
	if to, err = timed.ParseNodeID(values.Get("to")); err != nil {
		err = fmt.Errorf("to: %w", err)
	}
	return to, err
}
