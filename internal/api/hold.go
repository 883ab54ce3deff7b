package api

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/timed"
)

const holdPath = "/v1/leader/hold"

// Hold is the answer of POST /v1/leader/hold. Boot and SinceNS name the lead.
type Hold struct {
	Node       int    `json:"node"`
	Boot       string `json:"boot"`
	SinceNS    int64  `json:"since_ns"` // the hardware clock
	Global     bool   `json:"global"`
	ValidForNS int64  `json:"valid_for_ns"`
	Edict      string `json:"edict,omitempty"`
}

func (s *Server) hold(w http.ResponseWriter, q *http.Request) {
	global, err := flagOf(q, "global", false)
	if err != nil {
		Fail(w, http.StatusBadRequest, err)
		return
	}
	token := q.URL.Query().Get("token")
	if token != "" && !global {
		Fail(w, http.StatusBadRequest, errors.New("token: only global leaders create edicts: global=true is needed"))
		return
	}
	ctx, cancel := context.WithTimeout(q.Context(), CommandLimit)
	defer cancel()
	h, e, err := grant(ctx, s.node, global, token, s.node.Edict)
	switch {
	case err == nil:
		Answer(w, http.StatusOK, Hold{Node: int(h.By.Node), Boot: bootText(h.By.Boot), SinceNS: int64(h.Since),
			Global: h.Global, ValidForNS: int64(h.ValidFor()), Edict: e})
	case errors.Is(err, failaware.ErrNotLeader):
		Fail(w, http.StatusConflict, err)
	default:
		Fail(w, http.StatusServiceUnavailable, err)
	}
}

// grant asks a node for a hold, and its function makeEdict for an edict if there is a token.
// Without the edict there is no hold: its user would go on without what stores ask for.
func grant(ctx context.Context, n *failaware.Node, global bool, token string, makeEdict func([]byte) (edict.Edict, error)) (h failaware.Hold, e string, err error) {
	if !global {
		h, err = n.Hold(ctx)
		return h, "", err
	}
	if h, err = n.HoldGlobally(ctx); err != nil || token == "" {
		return h, "", err
	}
	made, err := makeEdict([]byte(token))
	if err != nil {
		return h, "", err
	}
	return h, made.String(), nil
}

// Held is a hold with its end by the clock of this process.
type Held struct {
	Hold
	// Until is when it ends, on that clock.
	Until timed.Instant

	era   uint32
	clock *hwclock.Clock
}

// Left returns how long the hold still lasts. It is 0 after the end, and if the machine has
// slept since the hold began.
func (h *Held) Left() time.Duration {
	if h.clock == nil {
		return 0
	}
	return h.LeftAt(h.clock.Read())
}

// LeftAt is Left at the time of a reading of that clock.
func (h *Held) LeftAt(r hwclock.Reading) time.Duration {
	if r.Era == h.era {
		return max(h.Until.Sub(r.Now), 0)
	}
	return 0
}

// SameLead reports whether two holds belong to one uninterrupted lead.
func (h *Held) SameLead(o *Held) bool { return h.Boot == o.Boot && h.SinceNS == o.SinceNS }

// Hold asks the node for a hold: of the global lead if global, with an edict for token if that
// is not empty. The hold counts from before the request, by a clock that drifts by at most
// drift, like the node's.
func (c *Client) Hold(ctx context.Context, clock *hwclock.Clock, drift timed.Drift, global bool, token string) (*Held, error) {
	query := url.Values{"global": {strconv.FormatBool(global)}}
	if token != "" {
		query.Set("token", token)
	}
	asked := clock.Read()
	h := &Held{era: asked.Era, clock: clock}
	if err := c.do(ctx, http.MethodPost, holdPath+"?"+query.Encode(), &h.Hold); err != nil {
		return nil, err
	}
	h.Until = asked.Now.Add(drift.Trust(time.Duration(h.ValidForNS)))
	return h, nil
}
