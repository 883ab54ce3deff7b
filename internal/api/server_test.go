package api

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
)

const longEnough = 60 * time.Second

var errEnough = errors.New("enough")

// startNode starts a node that ends with the test.
func startNode(t testing.TB, cfg failaware.Config) *failaware.Node {
	t.Helper()
	cfg.Timing = failaware.Local()
	n, err := failaware.Start(context.Background(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = n.Close() })
	return n
}

// serveNode serves a node on a unix socket, and returns a client of it.
func serveNode(t *testing.T, n *failaware.Node) (*Server, *Client) {
	t.Helper()
	return serveWith(t, NewServer(n))
}

// serveWith serves a server on a unix socket.
func serveWith(t *testing.T, s *Server) (*Server, *Client) {
	t.Helper()
	dir, err := os.MkdirTemp("", "fa")
	require.NoError(t, err)
	path := filepath.Join(dir, "api")
	l, err := ListenUnix(path)
	require.NoError(t, err)
	s.Version = "test"
	served := make(chan error, 1)
	go func() { served <- s.serve(l, held(t, s.Handler()), nil) }()
	t.Cleanup(func() {
		s.Close()
		require.NoError(t, <-served)
		require.NoFileExists(t, path)
		_ = os.RemoveAll(dir)
	})
	return s, NewClient(Address{Socket: path}, "")
}

func TestAnswersOfRealNodes(t *testing.T) {
	a := startNode(t, failaware.Config{ID: 1, Name: "alpha", Weight: 3})
	b := startNode(t, failaware.Config{ID: 2, Peers: []failaware.Peer{{ID: 1, Addr: a.Addr().String()}, {Addr: "127.0.0.1:9"}}})
	_, ca := serveNode(t, a)
	_, cb := serveNode(t, b)
	ctx := t.Context()
	require.Eventually(t, func() bool {
		var va, vb View
		var la, lb Leader
		return ca.Get(ctx, "/v1/view", &va) == nil && cb.Get(ctx, "/v1/view", &vb) == nil &&
			ca.Get(ctx, "/v1/leader", &la) == nil && cb.Get(ctx, "/v1/leader", &lb) == nil &&
			va.UpToDate && vb.UpToDate && va.ID == vb.ID && len(va.Members) == 2 && va.AtMostNS > 0 &&
			la.UpToDate && lb.UpToDate && la.Leader == lb.Leader && la.Leads != lb.Leads
	}, longEnough, 5*time.Millisecond)

	var clock Clock
	require.Eventually(t, func() bool {
		return cb.Get(ctx, "/v1/clock", &clock) == nil && clock.UpToDate && clock.ValidForNS > 0
	}, longEnough, 5*time.Millisecond)
	require.NotNil(t, clock.DeviationNS)
	require.Nil(t, clock.UTCBoundNS)
	require.Equal(t, time.Unix(0, clock.TimeNS).UTC().Format(time.RFC3339Nano), clock.Time)

	var m Members
	require.NoError(t, cb.Get(ctx, "/v1/members", &m))
	require.Equal(t, 2, m.Node)
	require.Len(t, m.Members, 3)
	require.Equal(t, []int{1, 2, 0}, []int{m.Members[0].Node, m.Members[1].Node, m.Members[2].Node})
	require.True(t, m.Members[1].Self)
	require.Equal(t, "127.0.0.1:9", m.Members[2].Listed)
	require.False(t, m.Members[2].Alive)
	require.Nil(t, m.Members[2].DelayNS)

	var s Status
	require.NoError(t, ca.Get(ctx, "/v1/status", &s))
	require.Equal(t, "alpha", s.Name)
	require.Equal(t, "test", s.Version)
	require.Equal(t, os.Getpid(), s.PID)
	require.Equal(t, int64(a.Bounds().View), s.Bounds.ViewNS)
	require.Equal(t, int64(failaware.Local().LockTime), s.Timing.LockTimeNS)
	require.NotEmpty(t, s.Counters)
	var h Health
	require.NoError(t, ca.Get(ctx, "/healthz", &h))
	require.True(t, h.OK)

	requireOneResigns(t, ca, cb)

	require.NoError(t, a.Close())
	require.Error(t, ca.Get(ctx, "/healthz", &h))
	require.Error(t, ca.Get(ctx, "/readyz", &h))
	require.NoError(t, ca.Get(ctx, "/v1/status", &s), "a stopped node answers with its last status")
	require.True(t, s.Stopped)
}

// requireOneResigns lets both nodes of a group resign: one of them leads, and the other
// one cannot resign.
func requireOneResigns(t *testing.T, ca, cb *Client) {
	t.Helper()
	failures := 0
	for _, c := range []*Client{ca, cb} {
		if err := c.Post(t.Context(), "/v1/resign"); err != nil {
			var refused *StatusError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, http.StatusConflict, refused.Code)
			failures++
		}
	}
	require.LessOrEqual(t, failures, 1+1)
}

// Every answer has exactly the fields of its type.
func TestAnswersAreAsDocumented(t *testing.T) {
	n := startNode(t, failaware.Config{ID: 1})
	s := NewServer(n)
	defer s.Close()
	h := s.Handler()
	for path, v := range map[string]any{"/v1/status": &Status{}, "/v1/leader": &Leader{}, "/v1/global": &Global{}, "/v1/verify?node=1": &Verification{}, "/v1/view": &View{},
		"/v1/clock": &Clock{}, "/v1/members": &Members{}, "/healthz": &Health{}} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		require.Equal(t, http.StatusOK, w.Code, path)
		require.Equal(t, "application/json", w.Header().Get("Content-Type"))
		require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
		require.NotContains(t, w.Body.String(), "9223372036854775807", "unknown bounds are null")
		dec := json.NewDecoder(w.Body)
		dec.DisallowUnknownFields()
		require.NoError(t, dec.Decode(v), path)
	}
}

func TestRequestsThatAreRefused(t *testing.T) {
	n := startNode(t, failaware.Config{ID: 1})
	s, c := serveNode(t, n)
	_ = s
	for _, q := range []struct {
		method, path, body string
		code               int
		want               string
	}{
		{"GET", "/", "", 404, "no such path"},
		{"GET", "/v1/nothing", "", 404, "/v1/nothing"},
		{"GET", "//", "", 404, `no such path: "//"`},
		{"GET", "//v1/leader", "", 404, `no such path: "//v1/leader"`},
		{"POST", "/v1/./resign", "", 404, "no such path"},
		{"GET", "/v1/nothing/../leader", "", 404, "no such path"},
		{"POST", "/v1/status", "", 405, "for GET only"},
		{"GET", "/v1/resign", "", 405, "for POST only"},
		{"DELETE", "/v1/view", "", 405, "for GET only"},
		{"GET", "/v1/verify", "", 400, "node: it is missing"},
		{"GET", "/v1/verify?node=256", "", 400, `node: node id "256"`},
		{"POST", "/v1/resign?to=x", "", 400, `to: node id "x"`},
		{"POST", "/v1/leader/hold?global=true&token=", "", 400, "token: it is empty"},
		{"POST", "/v1/resign?to=", "", 400, "to: it is empty"},
		{"POST", "/v1/resign?to=1", "", 409, "node 1 cannot hand over to node 1"},
		{"GET", "/v1/events?topic=weather", "", 400, "none of views, leader, clock, peers, broadcast, all"},
		{"GET", "/v1/events?since=x", "", 400, "not the id of an event"},
		{"GET", "/v1/events?since=-1", "", 400, "not the id of an event"},
		{"POST", "/v1/resign", strings.Repeat("x", maxBodyBytes+1), 413, "the body is too large: 16384 bytes are the most"},
		{"POST", "/v1/leave", "", 403, "does not accept the command to leave"},
	} {
		req, err := http.NewRequest(q.method, "http://node"+q.path, strings.NewReader(q.body))
		require.NoError(t, err)
		res, err := c.http.Do(req)
		require.NoError(t, err, q.path)
		b, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		_ = res.Body.Close()
		require.Equal(t, q.code, res.StatusCode, q.path)
		var f Failure
		require.NoError(t, json.Unmarshal(b, &f), string(b))
		require.Contains(t, f.Error, q.want)
	}
	req, err := http.NewRequest("GET", "http://node/v1/leader", nil)
	require.NoError(t, err)
	req.Header.Set("X-Long", strings.Repeat("x", 4*maxHeaderBytes))
	res, err := c.http.Do(req)
	require.NoError(t, err)
	_ = res.Body.Close()
	require.Equal(t, http.StatusRequestHeaderFieldsTooLarge, res.StatusCode)
}

// A node that cannot leave as it is asked to says why, and does not begin. One that can answers
// before it begins.
func TestLeavingIsAnsweredBeforeItBegins(t *testing.T) {
	s := NewServer(startNode(t, failaware.Config{ID: 1}))
	defer s.Close()
	w := httptest.NewRecorder()
	begun := 0
	s.Leave = func(forGood bool) (func(), error) {
		if forGood {
			return nil, errors.New("it leaves already")
		}
		return func() {
			require.Equal(t, http.StatusAccepted, w.Code)
			begun++
		}, nil
	}
	s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/leave", nil))
	require.Equal(t, 1, begun)
	w = httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/leave?forget=true", nil))
	require.Equal(t, http.StatusConflict, w.Code)
	require.Contains(t, w.Body.String(), "it leaves already")
	require.Equal(t, 1, begun)
}

// A client that a browser connects again asks for the same path, and says beside it how far it
// has come.
func resumesWhereItWas(t testing.TB) {
	q := httptest.NewRequest(http.MethodGet, "/v1/events?since=run-1", nil)
	require.Equal(t, "run-1", sinceOf(q))
	q.Header.Set("Last-Event-ID", "run-5")
	require.Equal(t, "run-5", sinceOf(q))
}

func TestAStreamResumesWhereItWas(t *testing.T) { resumesWhereItWas(t) }

func TestStreamsAreLimited(t *testing.T) {
	s := NewServer(startNode(t, failaware.Config{ID: 1}))
	defer s.Close()
	s.streams.open.Store(MaxStreams)
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v1/events", nil))
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.EqualValues(t, MaxStreams, s.streams.open.Load())
}

// A question about a stream gets its header and no stream, which nobody would read.
func TestHeadersOfStreams(t *testing.T) {
	s := NewServer(startNode(t, failaware.Config{ID: 1}))
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // ends a stream
	for _, method := range []string{http.MethodHead, http.MethodGet} {
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequestWithContext(ctx, method, "/v1/events", nil))
		require.Equal(t, http.StatusOK, w.Code)
		require.Equal(t, method == http.MethodHead, w.Body.Len() == 0, method)
		h := w.Header()
		require.Equal(t, []string{"text/event-stream", "no-store", "nosniff", s.Run()},
			[]string{h.Get("Content-Type"), h.Get("Cache-Control"), h.Get("X-Content-Type-Options"), h.Get("Failaware-Run")})
		require.NotEmpty(t, h.Get("Failaware-Last"))
		require.Zero(t, s.streams.open.Load())
		w = httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequestWithContext(ctx, method, "/v1/events?since=7", nil))
		require.Equal(t, s.Run()+".7", w.Header().Get("Failaware-Last"), "until an event comes, a client goes on there")
	}
}

// A server that ends does not wait for its clients to end their streams.
func TestStreamsEndWithTheirServer(t *testing.T) {
	s := NewServer(startNode(t, failaware.Config{ID: 1}))
	var stream sync.WaitGroup
	stream.Go(func() {
		s.Handler().ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/v1/events", nil))
	})
	for s.streams.open.Load() == 0 {
		runtime.Gosched()
	}
	s.Close()
	stream.Wait()
	require.Zero(t, s.streams.open.Load(), "others may begin")
}

func TestStreamsContinueWhereTheyEnded(t *testing.T) {
	n := startNode(t, failaware.Config{ID: 1})
	_, c := serveNode(t, n)
	take := func(r *Resume, count int) (kinds []string, ids []string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), longEnough)
		defer cancel()
		err := c.Events(ctx, r, nil, func(e Event) error {
			require.Equal(t, 1, e.Node)
			require.NotEmpty(t, e.Text)
			kinds, ids = append(kinds, e.Kind), append(ids, e.ID)
			r.Last = e.ID // like a return of nil
			if len(kinds) == count {
				return errEnough
			}
			return nil
		})
		require.ErrorIs(t, err, errEnough)
		return kinds, ids
	}
	all := &Resume{Topic: "all", Last: "0"}
	kinds, ids := take(all, 5)
	part := &Resume{Topic: "all", Last: "0"}
	first, _ := take(part, 2)
	rest, restIDs := take(part, 3)
	require.Equal(t, kinds, append(first, rest...))
	require.Equal(t, ids[2:], restIDs)
	require.Equal(t, all.Last, part.Last)
	require.Equal(t, "ready", kinds[0])

	// An id of another run: the stream has everything since the start.
	other := &Resume{Topic: "all", Last: "otherrun.4"}
	again, _ := take(other, 5)
	require.Equal(t, kinds, again)
	require.Equal(t, all.Run, other.Run)

	views := &Resume{Topic: "views", Last: "0"}
	kinds, _ = take(views, 3)
	require.False(t, slices.ContainsFunc(kinds, func(k string) bool { return k != "ready" && !strings.HasPrefix(k, "view-") }), kinds)

	// A stream that was cut off before its first event has a position, too.
	fresh := &Resume{Topic: "all"}
	ctx, cancel := context.WithTimeout(t.Context(), longEnough)
	defer cancel()
	err := c.Events(ctx, fresh, func(string) { cancel() }, func(Event) error { return nil })
	require.Error(t, err)
	require.NotEmpty(t, fresh.Last)
	require.Eventually(t, func() bool { // a busy machine may have cost it the lead already
		return c.Post(t.Context(), "/v1/resign") == nil
	}, longEnough, 10*time.Millisecond)
	for kinds = nil; !slices.Contains(kinds, "lead-lost"); { // other events may come before it
		kinds, _ = take(fresh, 1)
	}
}

func TestSilentStreamsSendHeartbeatsAndOutliveTheTimeouts(t *testing.T) {
	n := startNode(t, failaware.Config{ID: 1})
	s, c := serveNode(t, n)
	s.streams.beat = 20 * time.Millisecond
	res, err := c.send(t.Context(), http.MethodGet, "/v1/events", "999999", nil)
	require.NoError(t, err)
	defer res.Body.Close()
	var got strings.Builder
	b := make([]byte, 64)
	for strings.Count(got.String(), ": beat\n") < 3 {
		k, err := res.Body.Read(b)
		require.NoError(t, err)
		got.Write(b[:k])
	}
	require.NoError(t, n.Close())
	_, err = io.Copy(io.Discard, res.Body) // it ends with the node
	require.NoError(t, err)
}

func TestEventsOfTheEndAreDelivered(t *testing.T) {
	n := startNode(t, failaware.Config{ID: 1})
	s, c := serveNode(t, n)
	require.Eventually(t, n.Leads, longEnough, time.Millisecond)
	var kinds []string
	ended := make(chan error, 1)
	go func() {
		ended <- c.Events(t.Context(), &Resume{Topic: "leader", Last: "0"}, nil, func(e Event) error {
			kinds = append(kinds, e.Kind)
			return nil
		})
	}()
	require.Eventually(t, func() bool { return s.streams.open.Load() == 1 }, longEnough, time.Millisecond)
	require.NoError(t, n.Leave(t.Context()))
	s.Close()
	var gone *UnreachableError
	require.ErrorAs(t, <-ended, &gone)
	require.Contains(t, kinds, "lead-lost")
}

// A node that is connected to, and waits for another one or is stopped, is there: the user need
// not look for its address.
func TestASlowNodeIsThere(t *testing.T) {
	ctx, end := context.WithCancelCause(t.Context())
	waits := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		end(context.DeadlineExceeded)
		<-q.Context().Done()
	}))
	defer waits.Close()
	addr, err := ParseAddress(waits.URL)
	require.NoError(t, err)
	err = NewClient(addr, "").Get(ctx, "/v1/verify?node=9", &Verification{})
	require.EqualError(t, err, "the node at "+addr.String()+" has not answered in time")
	var gone *UnreachableError
	require.ErrorAs(t, err, &gone)
}

func TestAnswersOfAnotherServerAreNamed(t *testing.T) {
	addr := Address{URL: "http://192.0.2.1:80"}
	for answer, text := range map[string]string{
		"<html>":         "its answer is not JSON",
		"":               "its answer is not JSON",
		`"hello"`:        "its answer is a JSON string",
		`{"id": "x"}`:    `its answer has a JSON string at "id"`,
		`{"id": [1, 2]}`: `its answer has a JSON array at "id"`,
	} {
		v := struct {
			ID int `json:"id"`
		}{}
		err := foreign(addr, json.Unmarshal([]byte(answer), &v))
		require.EqualError(t, err, "the server at http://192.0.2.1:80 is not a node of failaware: "+text)
	}
}

func TestAnotherServerAnswers(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		switch q.URL.Path {
		case "/bad":
			w.WriteHeader(http.StatusBadGateway)
		case "/moved": // as by a proxy that wants a login
			http.Redirect(w, q, "/v1/leader", http.StatusFound)
		}
		_, _ = w.Write([]byte("hello"))
	}))
	defer other.Close()
	addr, err := ParseAddress(other.URL)
	require.NoError(t, err)
	c := NewClient(addr, "")
	require.EqualError(t, c.Get(t.Context(), "/v1/leader", &Leader{}),
		"the server at "+other.URL+" is not a node of failaware: its answer is not JSON")
	require.ErrorContains(t, c.Get(t.Context(), "/bad", &Leader{}), "502")
	require.ErrorContains(t, c.Get(t.Context(), "/moved", &Leader{}), "302")
	require.ErrorContains(t, c.Events(t.Context(), &Resume{}, nil, nil), "has no events")
}
