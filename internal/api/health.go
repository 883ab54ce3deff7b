package api

import (
	"net/http"

	"github.com/failaware/failaware"
)

// healthz reports whether the process answers and the node runs.
func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) {
	select {
	case <-s.node.Done():
		Answer(w, http.StatusServiceUnavailable, Health{Reason: "the node has stopped"})
	default:
		Answer(w, http.StatusOK, Health{OK: true})
	}
}

// readyz reports whether the node takes part: its waiting time is over, and it is in an
// up-to-date view, possibly alone.
func (s *Server) readyz(w http.ResponseWriter, _ *http.Request) {
	if reason := notReady(isDone(s.node.Done()), s.node.View()); reason != "" {
		Answer(w, http.StatusServiceUnavailable, Health{Reason: reason})
		return
	}
	Answer(w, http.StatusOK, Health{OK: true})
}

// notReady returns why a node with a view does not take part, or "".
func notReady(stopped bool, v failaware.ViewAnswer) string {
	switch {
	case stopped:
		return "the node has stopped"
	case !v.UpToDate:
		return "the view is not up to date"
	}
	return ""
}
