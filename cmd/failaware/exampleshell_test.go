//go:build unix

package main

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/cli/clitest"
)

// The example for shells does what it says.
func TestTheShellExample(t *testing.T) {
	addrs, err := clitest.FreeAddresses(1)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), "sh", "../../examples/shell/group.sh", t.TempDir())
	cmd.Env = append(os.Environ(), "SEED="+addrs[0])
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, want := range []string{`leader: node \d \(shell-\d\)`, `clock: .*±`, "from node 1: hello from the shell", `the command ended with the lead of node \d`,
		`node \d \(shell-\d\) is silent`, `(?m)^done$`} {
		require.Regexp(t, want, string(out))
	}
}
