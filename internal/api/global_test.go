package api

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/sim/memory"
	"github.com/failaware/failaware/timed"
)

func TestGlobalAnswers(t *testing.T) {
	q, err := quorum.Majority(timed.SetOf(1, 2))
	require.NoError(t, err)
	start := func(cfg failaware.Config) *failaware.Node {
		cfg.Quorum = q // with the timing of a LAN, for busy machines
		n, err := failaware.Start(t.Context(), cfg)
		require.NoError(t, err)
		t.Cleanup(func() { _ = n.Close() })
		return n
	}
	a := start(failaware.Config{ID: 1})
	b := start(failaware.Config{ID: 2, Peers: []failaware.Peer{{ID: 1, Addr: a.Addr().String()}}})
	clients := map[int]*Client{}
	for id, n := range map[int]*failaware.Node{1: a, 2: b} {
		_, clients[id] = serveNode(t, n)
	}
	ctx := t.Context()
	ask := func(id int) (g Global) {
		require.NoError(t, clients[id].Get(ctx, "/v1/global", &g))
		require.Equal(t, "majority:1,2", g.Quorum)
		require.Equal(t, uint64(1), g.Epoch)
		return g
	}
	wait := func(what string, ok func() bool) {
		for end := time.Now().Add(time.Minute); !ok(); time.Sleep(2 * time.Millisecond) {
			require.True(t, time.Now().Before(end), "no success: "+what)
		}
	}
	// On a busy machine a leader may lose the lead at any time.
	leader := func() (lead int) {
		wait("one leads globally, and the other one knows", func() bool {
			x, y := ask(1), ask(2)
			lead = x.Leader
			return lead != 0 && lead == y.Leader && (x.Leads || y.Leads)
		})
		return lead
	}
	wait("the leader says so", func() bool {
		lead := leader()
		var v Verification
		require.NoError(t, clients[3-lead].Get(ctx, fmt.Sprintf("/v1/verify?node=%d", lead), &v))
		require.Equal(t, lead, v.Node)
		require.GreaterOrEqual(t, v.LocalNS, v.GlobalNS)
		return v.GlobalNS > 0
	})
	wait("the leader gives up its lead", func() bool {
		lead := leader()
		err := clients[lead].Post(ctx, fmt.Sprintf("/v1/resign?to=%d", 3-lead))
		if err != nil {
			var refused *StatusError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, http.StatusConflict, refused.Code)
		}
		return err == nil
	})
	leader()
}

// patience is how long the command line waits for an answer.
const patience = 5 * time.Second

// searched returns how long a node takes to answer that hears nothing of the others.
func searched(t *testing.T, path string) (took time.Duration) {
	q, err := quorum.Majority(timed.SetOf(1, 2, 3))
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		n, err := failaware.Start(t.Context(), failaware.Config{ID: 1, Transport: memory.New(memory.Options{}).Transport(),
			Listen: "127.0.0.1:9001", Peers: []failaware.Peer{{ID: 2, Addr: "127.0.0.1:9002"}}, Quorum: q})
		require.NoError(t, err)
		defer n.Close()
		s := NewServer(n)
		defer s.Close()
		begun, w := time.Now(), httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		took = time.Since(begun)
		require.Equal(t, http.StatusGatewayTimeout, w.Code)
	})
	return took
}

// What cannot be asked is refused at once.
func TestImpossibleSearchesEndAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, err := failaware.Start(t.Context(), failaware.Config{ID: 1, Transport: memory.New(memory.Options{}).Transport(), Listen: "127.0.0.1:9001"})
		require.NoError(t, err)
		defer n.Close()
		s := NewServer(n)
		defer s.Close()
		for path, want := range map[string]struct {
			code int
			text string
		}{
			"/v1/leader/find?global=true": {http.StatusConflict, "this node has no quorum system"},
			"/v1/verify?node=9":           {http.StatusNotFound, "node 9: this node has never heard of it"},
		} {
			begun, w := time.Now(), httptest.NewRecorder()
			s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
			require.Equal(t, want.code, w.Code, path)
			require.Contains(t, w.Body.String(), want.text)
			require.Less(t, time.Since(begun), verifyLimit)
		}
	})
}

// A node that hears nothing answers before its clients give up, so that they learn why.
func TestSearchesEndBeforeClientsGiveUp(t *testing.T) {
	for _, path := range []string{"/v1/verify?node=2", "/v1/leader/find?global=true"} {
		require.Less(t, searched(t, path), patience, path)
	}
}
