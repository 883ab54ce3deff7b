package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/timed"
)

// Global is the answer of /v1/global.
type Global struct {
	Leader     int    `json:"leader"`
	Leads      bool   `json:"leads"`
	ValidForNS int64  `json:"valid_for_ns"`
	Quorum     string `json:"quorum,omitempty"`
	Epoch      uint64 `json:"epoch"`
}

// Verification is the answer of /v1/verify.
type Verification struct {
	Node     int    `json:"node"`
	Boot     string `json:"boot"`
	GlobalNS int64  `json:"global_ns"`
	LocalNS  int64  `json:"local_ns"`
}

// verifyLimit is how long a node waits for another one's answer.
const verifyLimit = 5 * time.Second

func (s *Server) global(w http.ResponseWriter, _ *http.Request) {
	cfg, a := s.node.Config(), s.node.GlobalLeader()
	g := Global{Leader: int(a.Leader), Leads: a.Leads, ValidForNS: int64(a.ValidFor), Epoch: cfg.QuorumEpoch}
	if cfg.Quorum != nil {
		g.Quorum = cfg.Quorum.String()
	}
	answer(w, http.StatusOK, g)
}

func (s *Server) verify(w http.ResponseWriter, q *http.Request) {
	id, err := timed.ParseNodeID(q.URL.Query().Get("node"))
	if err != nil {
		fail(w, http.StatusBadRequest, fmt.Errorf("node: %w", err))
		return
	}
	ctx, cancel := context.WithTimeoutCause(q.Context(), verifyLimit, fmt.Errorf("node %v has not answered within %v", id, verifyLimit))
	defer cancel()
	v, err := s.node.Verify(ctx, id)
	switch {
	case err == nil:
		local, global := v.Local(), v.Global() // in this order: each reads the clock, and local is the larger
		answer(w, http.StatusOK, Verification{Node: int(v.By.Node), Boot: bootText(v.By.Boot),
			GlobalNS: int64(global), LocalNS: int64(local)})
	case errors.Is(err, failaware.ErrClosed):
		fail(w, http.StatusServiceUnavailable, err)
	default:
		fail(w, http.StatusGatewayTimeout, err)
	}
}

// successor reads who a leader that resigns is to hand over to, if anybody.
func successor(q *http.Request) (to failaware.NodeID, err error) {
	text := q.URL.Query().Get("to")
	if text == "" {
		return failaware.NoNode, nil
	}
	if to, err = timed.ParseNodeID(text); err != nil {
		err = fmt.Errorf("to: %w", err)
	}
	return to, err
}
