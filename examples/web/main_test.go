//go:build unix

package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// startNode builds and starts a node, and returns its socket.
func startNode(t *testing.T) (socket string) {
	dir, err := os.MkdirTemp("", "web") // sockets have short names
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	program, socket := filepath.Join(dir, "failaware"), filepath.Join(dir, "api")
	out, err := exec.Command("go", "build", "-o", program, "../../cmd/failaware").CombinedOutput()
	require.NoError(t, err, string(out))
	node := exec.CommandContext(t.Context(), program, "node", "--id", "1", "--api", socket)
	require.NoError(t, node.Start())
	t.Cleanup(func() { _ = node.Process.Kill(); _ = node.Wait() })
	out, err = exec.Command(program, "--addr", socket, "wait", "view", "--timeout", "3m").CombinedOutput()
	require.NoError(t, err, string(out))
	return socket
}

func TestTheBrowserGetsWhatItNeeds(t *testing.T) {
	server := httptest.NewServer(handler(at(startNode(t))))
	t.Cleanup(server.Close) // after the stream has ended
	get := func(path string) *http.Response {
		r, err := http.Get(server.URL + path)
		require.NoError(t, err)
		t.Cleanup(func() { r.Body.Close() })
		return r
	}
	text, err := io.ReadAll(get("/").Body)
	require.NoError(t, err)
	require.Contains(t, string(text), "EventSource('/v1/events?since=' + ")
	text, err = io.ReadAll(get("/v1/view").Body)
	require.NoError(t, err)
	require.Contains(t, string(text), `"members":[{"node":1,`)

	stream := get("/v1/events?since=0") // does not end, and comes as it is sent
	require.Equal(t, "text/event-stream", strings.Split(stream.Header.Get("Content-Type"), ";")[0])
	lines, kinds := bufio.NewScanner(stream.Body), 0
	for kinds < 3 && lines.Scan() {
		if kind, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			require.Contains(t, string(page), "'"+kind+"'", "the page listens to it")
			kinds++
		}
	}
	require.NoError(t, lines.Err())
}

// The page runs in a world of its own, in virtual time. testdata/page.js says what it has to do.
func TestThePageShowsNothingOld(t *testing.T) {
	program, err := exec.LookPath("node")
	if err != nil {
		t.Skip("Node.js is needed: ", err)
	}
	out, err := exec.CommandContext(t.Context(), program, "testdata/page.js").CombinedOutput()
	require.NoError(t, err, string(out))
}

// A node that stands still is given up, and does not hold the connections.
func TestANodeThatStandsStillIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "/v1/leader", nil).WithContext(t.Context())
		r.Host = "localhost"
		handler(func(context.Context, string, string) (net.Conn, error) {
			near, far := net.Pipe()
			go func() { _, _ = io.Copy(io.Discard, far) }()
			return near, nil
		}).ServeHTTP(w, r)
		require.Equal(t, http.StatusBadGateway, w.Code)
		require.Equal(t, patience, time.Since(began))
	})
}

func TestNothingElsePasses(t *testing.T) {
	h := handler(at("/nonexistent"))
	for _, c := range []struct {
		method, target, host string
		code                 int
	}{
		{"POST", "/v1/leader", "127.0.0.1", http.StatusMethodNotAllowed},
		{"POST", "/v1/resign", "127.0.0.1", http.StatusNotFound},
		{"GET", "/v1/status", "localhost:8091", http.StatusNotFound},
		{"GET", "/", "evil.example", http.StatusForbidden},
		{"GET", "/", "192.0.2.1:8091", http.StatusForbidden},
		{"GET", "/", "[::1]:8091", http.StatusOK},
	} {
		r := httptest.NewRequest(c.method, c.target, nil)
		r.Host = c.host
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		require.Equal(t, c.code, w.Code, c)
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/v1/leader", nil)
	r.Host = "localhost"
	h.ServeHTTP(w, r)
	require.Equal(t, http.StatusBadGateway, w.Code, "there is no node")
}
