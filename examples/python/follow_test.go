//go:build unix

// Package python has no Go code but this test.
package python

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheScriptFollowsANode(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is needed: ", err)
	}
	dir, err := os.MkdirTemp("", "python") // sockets have short names
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

	out, err = exec.CommandContext(t.Context(), python, "follow.py", socket, "4").CombinedOutput()
	require.NoError(t, err, string(out))
	require.Regexp(t, `^leader [01], view \[1\], (NOT )?up to date\nready: .*\n`, string(out))
	require.Regexp(t, `(?m)^view-installed: view .*: members \{1\}$`, string(out))

	out, err = exec.Command(python, "follow.py").CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "follow.py SOCKET")
}
