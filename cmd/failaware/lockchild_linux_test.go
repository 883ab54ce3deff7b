package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
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
	found, left := killOrphans(others...)
	require.True(t, found)
	require.Empty(t, left)
	require.NotContains(t, children(), cmd.Process.Pid)
	found, _ = killOrphans(others...)
	require.False(t, found)
	_ = cmd.Wait() // it was collected
}

// A command may make control groups in its own, as a lock that it runs does. They go as well.
func TestControlGroupsWithinGo(t *testing.T) {
	g := newCgroup()
	if g == "" {
		t.Skip("this process may not make control groups")
	}
	inner := filepath.Join(g.file("inner"), "innermost")
	require.NoError(t, os.MkdirAll(inner, 0o700))
	cmd := exec.Command("sleep", "1000")
	require.NoError(t, cmd.Start())
	defer func() {
		_ = cmd.Process.Kill() // if the group was not
		_ = cmd.Wait()
	}()
	require.NoError(t, os.WriteFile(filepath.Join(inner, "cgroup.procs"), []byte(strconv.Itoa(cmd.Process.Pid)), 0))
	for range 5 { // a busy machine may need longer than remove waits
		g.remove()
	}
	require.NoDirExists(t, string(g))
}
