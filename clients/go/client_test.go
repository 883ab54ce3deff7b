package client

import (
	"context"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// longEnough ends a test that hangs.
const longEnough = 2 * time.Minute

// build builds the program in a directory.
func build(t *testing.T, dir string) (program string) {
	t.Helper()
	program = filepath.Join(dir, "failaware")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", program, "./cmd/failaware")
	build.Dir = "../.."
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	return program
}

// startNode starts the program with a node, and returns the socket and the token's file.
func startNode(t *testing.T) (socket, http, token string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "fa")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	program := build(t, dir)

	socket, token = filepath.Join(dir, "api"), filepath.Join(dir, "token")
	var log strings.Builder
	node := exec.Command(program, "node", "--id", "7", "--name", "seven", "--broadcast", "--api", socket, "--http", "127.0.0.1:0", "--api-token", token)
	page, err := node.StdoutPipe()
	require.NoError(t, err)
	node.Stderr = &log
	require.NoError(t, node.Start())
	t.Cleanup(func() {
		_ = node.Process.Kill()
		_ = node.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	first := make([]byte, 100)
	n, err := page.Read(first) // "dashboard at http://…"
	require.NoError(t, err)
	line, _, _ := strings.Cut(string(first[:n]), "\n")
	go func() { // the pipe must not fill
		for {
			if _, err := page.Read(make([]byte, 1<<12)); err != nil {
				return
			}
		}
	}()
	out, err := exec.Command(program, "--addr", socket, "wait", "leader", "--timeout", longEnough.String()).CombinedOutput()
	require.NoError(t, err, string(out))
	return socket, strings.TrimPrefix(line, "dashboard at "), token
}

// The generated client asks a real node.
func TestAgainstANode(t *testing.T) {
	socket, page, file := startNode(t)
	ctx, cancel := context.WithTimeout(t.Context(), longEnough)
	defer cancel()
	c, err := New(Unix(socket))
	require.NoError(t, err)

	status, err := c.GetStatusWithResponse(ctx)
	require.NoError(t, err)
	require.NotNil(t, status.JSON200, string(status.Body))
	require.Equal(t, "seven", status.JSON200.Name)
	members, err := c.GetMembersWithResponse(ctx)
	require.NoError(t, err)
	require.Equal(t, 7, members.JSON200.Members[0].Node)
	clock, err := c.GetClockWithResponse(ctx)
	require.NoError(t, err)
	require.NotZero(t, clock.JSON200.TimeNs)
	require.Nil(t, clock.JSON200.UtcBoundNs, "the node has no reference of UTC")

	// An error is a value too.
	verified, err := c.VerifyNodeWithResponse(ctx, &VerifyNodeParams{Node: 0})
	require.NoError(t, err)
	require.Equal(t, http.StatusBadRequest, verified.StatusCode())
	require.NotEmpty(t, verified.JSON400.Error)

	streams(ctx, t, c)
	overTCP(ctx, t, page, file)
	python(t, socket)
}

// streams reads the events and the deliveries of a node.
func streams(ctx context.Context, t *testing.T, c *ClientWithResponses) {
	t.Helper()
	for e, err := range c.Events(ctx, StreamEventsParamsTopicLeader, "0") {
		require.NoError(t, err)
		if e.Kind == "elected" {
			break
		}
	}
	for _, err := range c.Events(ctx, "", "no id") {
		require.ErrorContains(t, err, "is not the id of an event")
	}
	wait := true
	sent, err := c.BroadcastWithBodyWithResponse(ctx, &BroadcastParams{Wait: &wait}, "application/octet-stream", strings.NewReader("hello"))
	require.NoError(t, err)
	require.NotNil(t, sent.JSON200, string(sent.Body))
	for d, err := range c.Deliveries(ctx, "0") {
		require.NoError(t, err)
		if d.Kind == "message" {
			require.Equal(t, "hello", string(*d.Payload))
			break
		}
	}
}

// overTCP asks with the token, and with a wrong one.
func overTCP(ctx context.Context, t *testing.T, page, file string) {
	t.Helper()
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	for token, want := range map[string]int{strings.TrimSpace(string(b)): http.StatusOK, "wrong": http.StatusUnauthorized} {
		c, err := New(URL(page, token, nil))
		require.NoError(t, err)
		leader, err := c.GetLeaderWithResponse(ctx)
		require.NoError(t, err)
		require.Equal(t, want, leader.StatusCode())
	}
	_, err = New(URL("node:1", "", nil))
	require.ErrorContains(t, err, "begins with http")
}

// python runs the example for Python's standard library.
func python(t *testing.T, socket string) {
	t.Helper()
	interpreter, err := exec.LookPath("python3")
	if err != nil {
		t.Log("python3 is not installed: the example is not run")
		return
	}
	out, err := exec.Command(interpreter, "../python/failaware_client.py", socket, "--events", "1", "--since", "0").CombinedOutput()
	require.NoError(t, err, string(out))
	require.Regexp(t, `(?m)^(node 7 leads: up to date for at most \S+ ms|no leader is known)$`, string(out))
	require.Regexp(t, `(?m)^ready: the waiting time`, string(out))

	// Without a node it names the socket, in one line.
	out, err = exec.Command(interpreter, "../python/failaware_client.py", socket+"s").CombinedOutput()
	require.Error(t, err)
	require.Regexp(t, `^failaware_client: .*`+regexp.QuoteMeta(socket+"s")+`'\n$`, string(out))
}

// The generated file is that of the document.
func TestTheClientIsUpToDate(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the generator")
	}
	to := filepath.Join(t.TempDir(), "generated.go")
	cmd := exec.Command("go", "tool", "-modfile=tools/go.mod", "oapi-codegen", "-config", "config.yaml", "-o", to, "../../docs/openapi.yaml")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	want, err := os.ReadFile(to)
	require.NoError(t, err)
	got, err := os.ReadFile("generated.go")
	require.NoError(t, err)
	require.True(t, string(want) == string(got), "run go generate in clients/go")
}

// A token goes over no network in the clear, and to nobody to whom an answer redirects.
func TestTheTokenStaysHere(t *testing.T) {
	for url, ok := range map[string]bool{"http://127.0.0.1:1": true, "http://[::1]:1": true, "http://localhost:1": true, "https://node.example:1": true,
		"http://node.example:1": false, "http://192.0.2.1:1": false, "http://127.0.0.1.example:1": false, "http://127.0.0.1@node.example:1": false, "http://": false} {
		_, err := New(URL(url, "token", nil))
		require.Equal(t, ok, err == nil, "%s: %v", url, err)
	}
	shown := make(chan string, 1)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) { shown <- q.Header.Get("Authorization") }))
	defer other.Close()
	node := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer node.Close()
	c, err := New(URL(node.URL, "token", nil))
	require.NoError(t, err)
	leader, err := c.GetLeaderWithResponse(t.Context())
	require.NoError(t, err)
	require.Equal(t, http.StatusTemporaryRedirect, leader.StatusCode())
	require.Empty(t, shown)
}

// The node is a socket, or an address with the token in a file, which may end with a newline.
func TestAddresses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, []byte("abc\n"), 0o600))
	for node, want := range map[string]Target{
		"/run/f.sock":        Unix("/run/f.sock"),
		"unix:/run/f.sock":   Unix("/run/f.sock"),
		"http://127.0.0.1:1": URL("http://127.0.0.1:1", "abc", nil),
	} {
		got, err := At(node, file)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := At("http://127.0.0.1:1", "")
	require.Error(t, err)
	_, err = At("http://127.0.0.1:1", file+"2")
	require.ErrorIs(t, err, fs.ErrNotExist)
}
