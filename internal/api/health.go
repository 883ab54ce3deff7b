package api

import (
	"net/http"

	"github.com/failaware/failaware"
)

// healthz reports whether the process answers and the node runs.
func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) {
	if isDone(s.node.Done()) {
		answerHealth(w, hasStopped)
		return
	}
	answerHealth(w, "")
}

// readyz reports whether the node takes part: its waiting time is over, and it is in an
// up-to-date view, possibly alone.
func (s *Server) readyz(w http.ResponseWriter, _ *http.Request) {
	answerHealth(w, notReady(isDone(s.node.Done()), s.node.View()))
}

// readyStore reports whether the store takes commands and they have outcomes, which needs a
// quorum if it is linearizable.
func (s *Server) readyStore(w http.ResponseWriter, _ *http.Request) {
	if s.store == nil {
		Fail(w, http.StatusNotImplemented, errNoStore)
		return
	}
	var a KVStatus
	s.store.Describe(&a)
	switch {
	case isDone(s.node.Done()):
		answerHealth(w, hasStopped)
	case !a.Accepting && a.Lag != "":
		answerHealth(w, "the store waits for "+a.Lag)
	case !a.Accepting:
		answerHealth(w, "the store takes no commands; /v1/kv/status says why")
	default:
		answerHealth(w, "")
	}
}

// answerHealth answers that all is well, or why it is not.
func answerHealth(w http.ResponseWriter, problem string) {
	if problem != "" {
		Answer(w, http.StatusServiceUnavailable, Health{Reason: problem})
		return
	}
	Answer(w, http.StatusOK, Health{OK: true})
}

const hasStopped = "the node has stopped"

// notReady returns why a node with a view does not take part, or "".
func notReady(stopped bool, v failaware.ViewAnswer) string {
	switch {
	case stopped:
		return hasStopped
	case !v.UpToDate:
		return "the view is not up to date"
	}
	return ""
}
