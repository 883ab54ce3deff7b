//go:build unix

package client

import (
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// runPython runs a script that has the client for Python, against a node that answers by a
// handler and closes idle connections soon. The script gets the socket.
func runPython(t *testing.T, node http.HandlerFunc, script string) string {
	interpreter, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	dir, err := os.MkdirTemp("", "fa")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "api"))
	require.NoError(t, err)
	server := &http.Server{Handler: node, IdleTimeout: 50 * time.Millisecond}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	cmd := exec.CommandContext(t.Context(), interpreter, "-c", script, l.Addr().String())
	cmd.Env = append(os.Environ(), "PYTHONPATH=../python", "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return string(out)
}

// A connection that was closed while it was idle, an answer that was late, and a refusal do not
// spoil the next question.
func TestAPythonNodeCanBeAskedAgain(t *testing.T) {
	out := runPython(t, func(w http.ResponseWriter, q *http.Request) {
		switch q.URL.Path {
		case "/late":
			<-q.Context().Done()
		case "/refused":
			w.WriteHeader(http.StatusConflict)
			_, _ = io.WriteString(w, `{"error": "it does not lead"}`)
		case "/proxied":
			http.Error(w, "Bad Gateway", http.StatusBadGateway)
		default:
			_, _ = io.WriteString(w, `{"leader": 7}`)
		}
	}, `
import sys, time
from failaware_client import Node
node = Node(sys.argv[1])
print(node.get("/v1/leader"))
time.sleep(1)
print(node.get("/v1/leader"))
for path in "/late", "/refused", "/proxied":
    node.timeout = 0.2 if path == "/late" else 30
    node.close()
    try:
        node.get(path)
    except (OSError, RuntimeError) as e:
        print(type(e).__name__, e)
    node.timeout = 30
    print(node.get("/v1/leader"))
`)
	require.Equal(t, `{'leader': 7}
{'leader': 7}
TimeoutError timed out
{'leader': 7}
RuntimeError it does not lead
{'leader': 7}
RuntimeError the answer is 502
{'leader': 7}
`, out)
}

// Events go on behind a node that has no room for a stream, or dies in the middle of an event.
// Other refusals end them.
func TestPythonEventsGoOn(t *testing.T) {
	var asked atomic.Int32
	out := runPython(t, func(w http.ResponseWriter, q *http.Request) {
		switch asked.Add(1) {
		case 1:
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, `{"error": "too many streams of events"}`)
		case 2:
			_, _ = io.WriteString(w, "data: {\"id\": \"a-1\"}\n\ndata: {\"id\": \"a-")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		case 3:
			_, _ = io.WriteString(w, "data: {\"id\": \"after "+q.Header.Get("Last-Event-ID")+"\"}\n\n")
		default:
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error": "no such id"}`)
		}
	}, `
import sys
from failaware_client import events
try:
    for event in events(sys.argv[1]):
        print(event["id"])
except RuntimeError as e:
    print(e)
`)
	require.Equal(t, "a-1\nafter a-1\nno such id\n", out)
}
