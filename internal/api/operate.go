package api

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Levels are the levels of the log, from the most detailed on.
var Levels = []string{"trace", "debug", "info", "warn", "error", "off"}

// metrics answers a scrape.
func (s *Server) metrics(w http.ResponseWriter, q *http.Request) {
	if s.Metrics == nil {
		Fail(w, http.StatusNotFound, errors.New("this node has no metrics"))
		return
	}
	s.Metrics.ServeHTTP(w, q)
}

// logLevel changes the level of the log.
func (s *Server) logLevel(w http.ResponseWriter, q *http.Request) {
	level := q.URL.Query().Get("level")
	switch {
	case s.SetLevel == nil:
		Fail(w, http.StatusForbidden, errors.New("this node does not change the level of its log"))
	case !slices.Contains(Levels, level):
		Fail(w, http.StatusBadRequest, fmt.Errorf("the level %.20q is none of %s", level, strings.Join(Levels, ", ")))
	default:
		s.SetLevel(level)
		Answer(w, http.StatusOK, Done{true})
	}
}

// DebugPath is the path below which [Server.Debug] answers.
const DebugPath = "/debug/pprof/"

// Traffic are the messages that the server has sent for its clients, and those that the
// node has delivered.
type Traffic struct {
	Sent, SentBytes           uint64
	Delivered, DeliveredBytes uint64
}

// Traffic returns the counts since the server was made.
func (s *Server) Traffic() Traffic {
	t := Traffic{Sent: s.sent.Load(), SentBytes: s.sentBytes.Load()}
	if s.kept != nil {
		t.Delivered, t.DeliveredBytes = s.kept.delivered()
	}
	return t
}
