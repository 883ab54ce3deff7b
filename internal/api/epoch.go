package api

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

// Epoch is the answer of /v1/epoch.
type Epoch struct {
	Epoch  uint64 `json:"epoch"`
	Quorum string `json:"quorum,omitempty"`
	Phase  string `json:"phase"`
	Next   string `json:"next,omitempty"`
	Dead   []int  `json:"dead,omitempty"`
	Static bool   `json:"static"`
	// Missing are the voters of Quorum that are not alive, as far as the node hears.
	Missing []int `json:"missing,omitempty"`
}

// CommandLimit is the longest time that a node takes for a command.
const CommandLimit = 30 * time.Second

// Edict is the answer of /v1/edict.
type Edict struct {
	Edict string `json:"edict"`
	Epoch uint64 `json:"epoch"`
}

func (s *Server) epoch(w http.ResponseWriter, _ *http.Request) {
	a := s.node.Epoch()
	Answer(w, http.StatusOK, Epoch{Epoch: a.Epoch, Quorum: a.System, Phase: a.Phase.String(), Next: a.Next, Dead: setOf(a.Dead), Static: a.Static, Missing: setOf(a.Missing)})
}

// changeQuorum replaces the quorum system: through its leader, or by force if members
// are declared dead.
func (s *Server) changeQuorum(w http.ResponseWriter, q *http.Request) {
	late := fmt.Errorf("the change is not complete within %v; it continues", CommandLimit)
	if q.URL.Query().Has("dead") {
		late = fmt.Errorf("the node has not said within %v whether it forces the change, and may do so all the same", CommandLimit)
	}
	ctx, cancel := context.WithTimeoutCause(q.Context(), CommandLimit, late)
	defer cancel()
	next, err := quorum.Parse(q.URL.Query().Get("system"))
	if err != nil {
		Fail(w, http.StatusBadRequest, errors.New("system: "+strings.TrimPrefix(err.Error(), "quorum: ")))
		return
	}
	if values := q.URL.Query(); values.Has("dead") {
		var dead timed.Set
		for f := range strings.SplitSeq(values.Get("dead"), ",") {
			id, err := timed.ParseNodeID(f)
			if err != nil {
				Fail(w, http.StatusBadRequest, fmt.Errorf("dead: %w", err))
				return
			}
			dead.Add(id)
		}
		err = s.node.ForceQuorum(ctx, next, dead)
	} else if err = s.heard(q, next); err == nil {
		err = s.node.ChangeQuorum(ctx, next)
	}
	if err != nil {
		Fail(w, changeCode(err, ctx.Err() != nil), err)
		return
	}
	Answer(w, http.StatusOK, Done{true})
}

// heard refuses a quorum system of which no quorum is heard, unless the parameter unheard insists:
// nobody could lead under it, nor replace it without force. A store goes along only to where
// its state is, so it needs no such check. It also refuses a system with a new voter that is not
// alive: that is often a mistyped one, and takes the spare of the others.
func (s *Server) heard(q *http.Request, next quorum.System) error {
	insists, err := flagOf(q, "unheard", false)
	if err != nil {
		return badRequest{err}
	}
	now := s.node.Epoch()
	if insists || now.Static {
		return nil
	}
	status, err := statusOf(s.node)
	if err != nil {
		return err
	}
	there := status.Alive
	there.Add(s.node.ID())
	absent := next.Members().Minus(there).Minus(now.Voters)
	unheld := s.store == nil && !next.IsQuorum(there)
	if !unheld && absent.Empty() {
		return nil
	}
	_, cancel, err := s.node.GlobalLeaderContext(q.Context())
	cancel()
	if err != nil {
		return err // and not nil: it may lead by the time at which it would propose
	}
	if !unheld {
		return fmt.Errorf("nodes %v have no vote yet and are not alive: start them first, or insist by unheard", absent)
	}
	return fmt.Errorf("no quorum of %v is heard, only nodes %v: nobody could lead globally after the change, nor replace it without force; "+
		"start its members first, or insist by unheard", next, there)
}

// changeCode returns the status code for the error of a change of the quorum system. late says
// that the time for it is over.
func changeCode(err error, late bool) int {
	_, bad := errors.AsType[badRequest](err)
	switch {
	case errors.Is(err, failaware.ErrClosed):
		return http.StatusServiceUnavailable
	case bad, errors.Is(err, epoch.ErrSystem), errors.Is(err, failaware.ErrStaticQuorum):
		return http.StatusBadRequest
	case late, errors.Is(err, errStalled):
		return http.StatusGatewayTimeout
	}
	return http.StatusConflict
}

// edict creates an edict for the digest of a payload. The payload itself is not sent.
func (s *Server) edict(w http.ResponseWriter, q *http.Request) {
	b, err := hex.DecodeString(q.URL.Query().Get("sha256"))
	if err != nil || len(b) != len(edict.Digest{}) {
		Fail(w, http.StatusBadRequest, fmt.Errorf("sha256: %d hexadecimal digits are needed", 2*len(edict.Digest{})))
		return
	}
	e, err := s.node.EdictOf(edict.Digest(b))
	switch {
	case err == nil:
		Answer(w, http.StatusOK, Edict{Edict: e.String(), Epoch: e.Epoch})
	case errors.Is(err, failaware.ErrClosed):
		Fail(w, http.StatusServiceUnavailable, err)
	default:
		Fail(w, http.StatusConflict, err)
	}
}
