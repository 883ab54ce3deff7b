//go:build unix

// Package python has no Go code but this test.
package python

import (
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// prepare returns the interpreter, and a directory in whose files sockets have short names.
func prepare(t *testing.T) (python, dir string) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is needed: ", err)
	}
	dir, err = os.MkdirTemp("", "python")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return python, dir
}

// A node that has no room for a stream, or is ending, is asked again. Other refusals end the
// script.
func TestTheScriptWaitsForANode(t *testing.T) {
	python, dir := prepare(t)
	l, err := net.Listen("unix", filepath.Join(dir, "api"))
	require.NoError(t, err)
	asked, begun := 0, 0
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		switch q.URL.Path {
		case "/v1/leader":
			switch begun++; begun {
			case 1:
				http.Error(w, "too many requests", http.StatusServiceUnavailable)
				return
			case 2:
				w.Header().Set("Content-Length", "100")
			case 3:
				panic(http.ErrAbortHandler)
			}
			_, _ = io.WriteString(w, `{"leader": 1}`)
		case "/v1/view":
			_, _ = io.WriteString(w, `{"up_to_date": true, "members": [{"node": 1}]}`)
		default:
			switch asked++; asked {
			case 1:
				http.Error(w, "too many streams", http.StatusServiceUnavailable)
			case 2:
				_, _ = io.WriteString(w, "id: 1\nevent: ready\ndata: {\"text\": \"here\"}\n\n")
			default:
				http.Error(w, "no such id", http.StatusBadRequest)
			}
		}
	})}
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	out, err := exec.CommandContext(t.Context(), python, "follow.py", l.Addr().String()).CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "503 too many requests: trying again\n")
	require.Contains(t, string(out), "503 too many streams: trying again\n")
	require.Contains(t, string(out), "ready: here\n")
	require.Contains(t, string(out), "RuntimeError: /v1/events: 400 no such id\n")
	require.Equal(t, 3, asked)
}

func TestTheScriptFollowsANode(t *testing.T) {
	python, dir := prepare(t)
	program, socket := filepath.Join(dir, "failaware"), filepath.Join(dir, "api")
	out, err := exec.Command("go", "build", "-o", program, "../../cmd/failaware").CombinedOutput()
	require.NoError(t, err, string(out))
	node := exec.CommandContext(t.Context(), program, "node", "--id", "1", "--api", socket)
	require.NoError(t, node.Start())
	t.Cleanup(func() { _ = node.Process.Kill(); _ = node.Wait() })
	out, err = exec.Command(program, "--addr", socket, "wait", "view", "--timeout", "3m").CombinedOutput()
	require.NoError(t, err, string(out))

	out, err = exec.CommandContext(t.Context(), python, "follow.py", socket, "4").CombinedOutput()
	require.NoError(t, err, string(out))
	require.Regexp(t, `^leader [01], view \[1\], (NOT )?up to date\nready: .*\n`, string(out))
	require.Regexp(t, `(?m)^view-installed: view .*: members \{1\}$`, string(out))

	out, err = exec.Command(python, "follow.py").CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "follow.py SOCKET")
	nobody := filepath.Join(dir, "nobody")
	out, err = exec.Command(python, "follow.py", nobody).CombinedOutput()
	require.Error(t, err)
	require.Equal(t, nobody+": no node answers there: [Errno 2] No such file or directory\n", string(out))
}
