package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/failaware/failaware"
)

const keysPath = "/v1/keys"

// Keys is the answer of /v1/keys: which keys the node and its peers have. It holds no
// key, only ids.
type Keys struct {
	Node int      `json:"node"`
	File string   `json:"file,omitempty"` // empty: the node has no keys
	Keys []string `json:"keys"`           // ids; the first one seals packets
	// Peers are the peers with a known id.
	Peers []PeerKeys `json:"peers"`
}

// PeerKeys are the keys of a peer, by its latest packet that this node could open.
type PeerKeys struct {
	Node  int      `json:"node"`
	Alive bool     `json:"alive"`
	Keys  []string `json:"keys"`
}

// errStalled says that nothing is known of peers. An answer with an empty list of peers would
// mean that no peer lacks a key.
var errStalled = errors.New("the loop of the node does not answer: it waits for a disk or a processor")

// statusOf returns the status of a node, or errStalled if its loop reports no peers.
func statusOf(n *failaware.Node) (s failaware.Status, err error) {
	if s = n.Status(); s.Age < 0 && !s.Stopped {
		err = errStalled
	}
	return s, err
}

func keysAnswer(n *failaware.Node) (Keys, error) {
	s, err := statusOf(n)
	if err != nil {
		return Keys{}, err
	}
	a := Keys{Node: int(s.ID), File: n.KeyFile(), Keys: keyTexts(s.Keys), Peers: []PeerKeys{}}
	for i := range s.Peers {
		if p := &s.Peers[i]; p.ID != failaware.NoNode {
			a.Peers = append(a.Peers, PeerKeys{int(p.ID), p.Alive, keyTexts(p.Keys)})
		}
	}
	return a, nil
}

func keyTexts(ids []failaware.KeyID) []string {
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = id.String()
	}
	return list
}

func (s *Server) keys(w http.ResponseWriter, _ *http.Request) {
	answerKeys(w, s.node)
}

func answerKeys(w http.ResponseWriter, n *failaware.Node) {
	a, err := keysAnswer(n)
	if err != nil {
		Fail(w, http.StatusGatewayTimeout, err)
		return
	}
	Answer(w, http.StatusOK, a)
}

// reloadKeys makes the node read its key file again.
func (s *Server) reloadKeys(w http.ResponseWriter, q *http.Request) {
	ctx, cancel := context.WithTimeoutCause(q.Context(), CommandLimit, fmt.Errorf("the node does not answer within %v", CommandLimit))
	defer cancel()
	switch err := s.node.ReloadKeys(ctx); {
	case err == nil:
		answerKeys(w, s.node)
	case errors.Is(err, failaware.ErrClosed):
		Fail(w, http.StatusServiceUnavailable, err)
	case ctx.Err() != nil:
		Fail(w, http.StatusGatewayTimeout, err)
	default:
		Fail(w, http.StatusBadRequest, err)
	}
}

// Keys returns the ids of the keys of the node and its peers.
func (c *Client) Keys(ctx context.Context) (k Keys, err error) {
	return k, c.Get(ctx, keysPath, &k)
}

// ReloadKeys makes the node read its key file again.
func (c *Client) ReloadKeys(ctx context.Context) (k Keys, err error) {
	return k, c.do(ctx, http.MethodPost, keysPath+"/reload", &k)
}
