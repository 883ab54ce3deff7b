package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/cli/clitest"
)

func runLab(args ...string) (code int, out, err string) {
	return clitest.Invoke(&program, append([]string{"lab"}, args...)...)
}

// The drawn runs of docs/internals/laboratory.md match the algorithms.
func TestFiguresOfTheLaboratoryAreCurrent(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("coordinates may differ in the last digit")
	}
	for name, args := range map[string]string{
		"lab-ring":         "--algorithms ring --scenario stoller --from 10.06s --to 10.12s",
		"lab-bully":        "--algorithms bully --scenario crash --from 20.653s --to 20.6545s",
		"lab-invitation":   "--algorithms invitation --scenario stoller --from 19.99s --to 20.13s",
		"lab-majority":     "--algorithms majority --scenario stoller --from 10s --to 10.2s",
		"lab-nerio":        "--algorithms nerio-drift --scenario trio-cut --from 10s --to 10.2s",
		"lab-local":        "--algorithms local --scenario stoller --from 20s --to 20.25s",
		"lab-local-strict": "--algorithms local-strict --scenario stoller --from 20s --to 20.25s",
	} {
		file := filepath.Join(t.TempDir(), name+".svg")
		code, _, msg := runLab(append(strings.Fields(args), "--diagram", file)...)
		require.Zero(t, code, msg)
		got, err := os.ReadFile(file)
		require.NoError(t, err)
		want, err := os.ReadFile(filepath.Join("..", "..", "docs", "figures", name+".svg"))
		require.NoError(t, err)
		require.True(t, bytes.Equal(got, want), "docs/figures/%s.svg: run failaware-lab lab %s --diagram again", name, args)
	}
}
