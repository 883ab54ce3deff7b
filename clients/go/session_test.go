package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// fakeStore is the store of a node that answers with the codes that it is given, the last
// one again and again. Code 0 is an answer that is lost.
type fakeStore struct {
	mu    sync.Mutex
	codes []int
	sent  []string
}

// attempts returns what was sent.
func (f *fakeStore) attempts() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.sent)
}

func (f *fakeStore) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	v := q.URL.Query()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent = append(f.sent, v.Get("session")+" "+v.Get("number"))
	code := f.codes[0]
	if len(f.codes) > 1 {
		f.codes = f.codes[1:]
	}
	switch code {
	case 0:
		panic(http.ErrAbortHandler)
	case http.StatusOK, http.StatusConflict:
		w.WriteHeader(code)
		fmt.Fprint(w, `{"status": "done", "version": "7"}`)
	default:
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"error": "code %d"}`, code)
	}
}

// serve returns a client of a store.
func (f *fakeStore) serve(t *testing.T) *ClientWithResponses { return clientOf(t, f) }

// clientOf returns a client of a server that answers by a handler.
func clientOf(t *testing.T, h http.Handler) *ClientWithResponses {
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	c, err := New(URL(server.URL, "", nil))
	require.NoError(t, err)
	return c
}

// A command is sent again, under its number, while its outcome is unknown, and not longer
// than its context allows.
func TestACommandIsSentUntilItsOutcomeIsKnown(t *testing.T) {
	for what, c := range map[string]struct {
		codes  []int
		sends  int // 0: until the end
		fails  string
		before bool // it may have been sent before
	}{
		"done":                 {[]int{200}, 1, "", false},
		"a miss":               {[]int{409}, 1, "", false},
		"lost, then done":      {[]int{0, 504, 503, 200}, 4, "", false},
		"lost, then not taken": {[]int{0, 503}, 0, "unknown", false},
		"lost, then refused":   {[]int{0, 501}, 0, "unknown", false},
		"lost, then ended":     {[]int{0, 410}, 2, "unknown", false},
		"always lost":          {[]int{0}, 0, "unknown", false},
		"not taken":            {[]int{503}, 1, "code 503", false},
		"refused":              {[]int{400}, 1, "code 400", false},
		"no such path":         {[]int{404}, 1, "code 404", false},
		"lost, then no path":   {[]int{0, 404}, 0, "unknown", false},
		"no path, then done":   {[]int{0, 404, 200}, 3, "", false},
		"sent before, no room": {[]int{503}, 0, "unknown", true},
		"sent before, done":    {[]int{200}, 1, "", true},
	} {
		f := &fakeStore{codes: c.codes}
		s := ResumeSession("1/0000000000000007/o1", 4, f.serve(t))
		if !c.before {
			s.sent = false // as behind a command whose outcome is known
		}
		limit := longEnough
		if c.sends == 0 {
			limit = time.Second
		}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		answer, err := s.Put(ctx, KvPutParams{Key: "colour"}, []byte("blue"))
		cancel()
		if c.fails == "" {
			require.NoError(t, err, what)
			require.Equal(t, "7", *answer.Version, what)
			require.Nil(t, answer.Error, "%s: it is of another attempt", what)
		} else {
			require.ErrorContains(t, err, c.fails, what)
			require.Equal(t, c.fails == "unknown", errors.Is(err, ErrUnknownOutcome), what)
		}
		if e, ok := errors.AsType[*UnknownOutcomeError](err); ok {
			require.Equal(t, int64(4), e.Number, what)
			require.Equal(t, "1/0000000000000007/o1", e.Session, what)
			require.Equal(t, c.codes[len(c.codes)-1] == http.StatusGone, e.Ended, what)
		}
		if c.sends > 0 {
			require.Len(t, f.attempts(), c.sends, what)
		}
		for _, sent := range f.attempts() {
			require.Equal(t, "1/0000000000000007/o1 4", sent, what)
		}
		require.Equal(t, int64(5), s.next, "the number is used")
	}
}

// An answer of success that cannot be read is a lost one: whose it was is not known.
func TestAnAnswerThatCannotBeReadIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		node := doer(func(*http.Request) (*http.Response, error) {
			if asked++; asked == 1 {
				return says(http.StatusOK, `<html>Welcome</html>`)
			}
			return says(http.StatusOK, `{"status": "done", "version": "7"}`)
		}).client(t)
		s := ResumeSession("1/0000000000000007/o1", 4, node)
		answer, err := s.Put(t.Context(), KvPutParams{Key: "colour"}, []byte("blue"))
		require.NoError(t, err)
		require.Equal(t, "7", *answer.Version)
		require.Equal(t, 2, asked)
	})
}

// An attempt may be carried out unless its answer says that it is not, whoever gives the
// answer: proxies have codes of their own for answers that they have lost. A later refusal
// then tells nothing.
func TestAnAttemptMayBeCarriedOutUnlessItsAnswerDeniesIt(t *testing.T) {
	unavailable := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, body)
		}
	}
	ways := map[string]http.HandlerFunc{
		"a node's 503": unavailable(`{"error": "not the store of a majority"}`),
		"Envoy's 503":  unavailable("upstream connect error or disconnect/reset before headers"),
		"a gateway's":  unavailable(`{"message": "Service Unavailable"}`),
		"a balancer's": unavailable("<html><body><h1>503 Service Unavailable</h1></body></html>"),
		"the end":      func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"a reset": func(w http.ResponseWriter, _ *http.Request) {
			c, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_ = c.(*net.TCPConn).SetLinger(0)
				_ = c.Close()
			}
		},
		"half an answer": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, `{"status": `)
		},
	}
	for code := 201; code < 600; code++ {
		if code/100 != 3 {
			ways[fmt.Sprint(code)] = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
		}
	}
	for what, way := range ways {
		s := ResumeSession("1/0000000000000007/o1", 4, clientOf(t, way))
		got, err := s.attempt(t.Context(), new(KVWrite), func(ctx context.Context, c *ClientWithResponses) (*http.Response, error) {
			return c.KvDelete(ctx, &KvDeleteParams{Key: "colour"})
		})
		require.Error(t, err, what)
		want := lost
		switch code, _ := strconv.Atoi(what); {
		case what == "a node's 503":
			want = notTaken
		case code == http.StatusGone:
			want = ended
		case code/100 == 4 || code == http.StatusNotImplemented:
			want = refused
		}
		require.Equal(t, want, got, what)
	}
}

// A node that takes nothing is passed over.
func TestAnotherNodeIsAsked(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	away, err := New(URL(gone.URL, "", nil))
	require.NoError(t, err)
	busy, works := &fakeStore{codes: []int{503}}, &fakeStore{codes: []int{200}}
	s := ResumeSession("1/0000000000000007/o1", 1, away, busy.serve(t), works.serve(t))
	s.sent = false
	for range 2 {
		_, err = s.Delete(t.Context(), KvDeleteParams{Key: "colour"})
		require.NoError(t, err)
	}
	require.Len(t, busy.sent, 1, "the node that answered is asked again")
	require.Equal(t, []string{"1/0000000000000007/o1 1", "1/0000000000000007/o1 2"}, works.sent)
	_, err = ResumeSession("1/0000000000000007/o1", 1).Put(t.Context(), KvPutParams{}, nil)
	require.ErrorContains(t, err, "needs a node")
}

// ports returns addresses that nobody uses now.
func ports(t *testing.T, count int) (all []string) {
	for range count {
		c, err := net.ListenPacket("udp", "127.0.0.1:0")
		require.NoError(t, err)
		defer c.Close()
		all = append(all, c.LocalAddr().String())
	}
	return all
}

// loses is a node whose answers never come: it is killed when it has carried a command out.
func loses(t *testing.T, socket string, node *os.Process) *ClientWithResponses {
	t.Helper()
	var killed atomic.Bool
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: "node"}) },
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		}},
		ModifyResponse: func(res *http.Response) error {
			if strings.HasSuffix(res.Request.URL.Path, "/put") && res.StatusCode == http.StatusOK && !killed.Swap(true) {
				_ = node.Kill()
				panic(http.ErrAbortHandler)
			}
			return nil
		},
	}
	return clientOf(t, proxy)
}

// The node that carried a command out is killed before it answers. Another one tells what
// came of it, and the command is not carried out again.
func TestACommandWhoseNodeIsKilled(t *testing.T) {
	dir, err := os.MkdirTemp("", "fa")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	program := build(t, dir)
	addresses := ports(t, 3)
	var nodes []*ClientWithResponses
	for i := range 3 {
		file := func(name string) string { return filepath.Join(dir, fmt.Sprint(name, i+1)) }
		args := []string{"node", "--id", fmt.Sprint(i + 1), "--listen", addresses[i], "--api", file("api"), "--kv", "linearizable",
			"--quorum", "majority:1,2,3", "--state-dir", file("state"), "--kv-dir", file("kv")}
		for k, a := range addresses {
			if k != i {
				args = append(args, "--peer", fmt.Sprintf("%d=%s", k+1, a))
			}
		}
		node := exec.Command(program, args...)
		require.NoError(t, node.Start())
		t.Cleanup(func() {
			_ = node.Process.Kill()
			_ = node.Wait()
		})
		c, err := New(Unix(file("api")))
		require.NoError(t, err)
		if i == 0 {
			c = loses(t, file("api"), node.Process)
		}
		nodes = append(nodes, c)
	}
	ctx, cancel := context.WithTimeout(t.Context(), longEnough)
	defer cancel()
	var s *Session
	for s == nil || err != nil { // the group begins
		s, err = OpenSession(ctx, nodes...)
		require.NoError(t, ctx.Err(), "%v", err)
	}
	s.at = 0
	first, err := s.Put(ctx, KvPutParams{Key: "colour"}, []byte("blue"))
	require.NoError(t, err)
	require.True(t, first.Repeated, "the node that is gone had carried it out")
	second, err := s.Put(ctx, KvPutParams{Key: "colour", Version: first.Version}, []byte("green"))
	require.NoError(t, err)
	require.Equal(t, KVWriteStatusDone, second.Status)
	require.False(t, second.Repeated)
	require.NoError(t, s.Close(ctx))
}

// A number that no command can have is not taken for the next one's.
func TestARefusedNumberIsNotUsed(t *testing.T) {
	s := ResumeSession("1/0000000000000007/o1", 0, nil)
	for range 2 {
		_, err := s.Put(t.Context(), KvPutParams{Key: "k"}, nil)
		require.ErrorContains(t, err, "the first is 1")
	}
}
