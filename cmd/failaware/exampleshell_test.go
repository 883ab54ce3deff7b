//go:build unix

package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/cli/clitest"
)

// shellExample is the example for shells, whose nodes keep their files in a directory.
func shellExample(t *testing.T, dir, seed string) *exec.Cmd {
	t.Helper()
	script, err := filepath.Abs("../../examples/shell/group.sh")
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), "sh", script, dir)
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "SEED="+seed)
	return cmd
}

// The example for shells does what it says.
func TestTheShellExample(t *testing.T) {
	addrs, err := clitest.FreeAddresses(1)
	require.NoError(t, err)
	out, err := shellExample(t, "group", addrs[0]).CombinedOutput() // a directory by its relative path
	require.NoError(t, err, "%s", out)
	for _, want := range []string{`leader: node \d \(shell-\d\)`, `clock: .*±`, "from node 1: hello from the shell", `the command ended with the lead of node \d`,
		`node \d \(shell-\d\) is silent`, `(?m)^done$`} {
		require.Regexp(t, want, string(out))
	}
}

// The example ends, and says why, if a node cannot start.
func TestTheShellExampleEndsWithANode(t *testing.T) {
	taken, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, taken.Close()) }()
	out, err := shellExample(t, t.TempDir(), taken.LocalAddr().String()).CombinedOutput()
	require.Error(t, err, "%s", out)
	require.Equal(t, "node 1 has ended: failaware: --listen: the UDP address "+taken.LocalAddr().String()+" is in use by another process\n", string(out))
}
