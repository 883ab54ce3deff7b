package main

import (
	"os/exec"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a command has left is killed, and said to have outlived it.
func TestOrphansAreFound(t *testing.T) {
	others := children()
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Skip("no program sleep: ", err)
	}
	if !slices.Contains(children(), cmd.Process.Pid) {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		t.Skip("this system does not list children")
	}
	require.True(t, killOrphans(others...))
	require.NotContains(t, children(), cmd.Process.Pid)
	require.False(t, killOrphans(others...))
	_ = cmd.Wait() // it was collected
}
