package main

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// demoOutput runs the command alone.
func demoOutput(args ...string) (string, error) {
	cmd := newDemoCommand()
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(io.Discard)
	cmd.SetArgs(args)
	err := cmd.Execute()
	return out.String(), err
}

func TestDemoWithoutATerminalWritesLines(t *testing.T) {
	out, err := demoOutput("--nodes", "3", "--for", "300ms")
	require.NoError(t, err)
	require.Contains(t, out, "status")
}

func TestDemoRefusesWrongOptions(t *testing.T) {
	for _, args := range [][]string{{"--nodes", "1"}, {"--nodes", "10"}, {"--preset", "moon"}, {"--for", "0s"},
		{"--script", "--nodes", "4"}, {"surplus"}} {
		_, err := demoOutput(args...)
		require.Error(t, err, args)
	}
}
