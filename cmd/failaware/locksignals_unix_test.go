//go:build unix

package main

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// What stops or ends a terminal's job stops or ends the command, and neither lock nor its
// guard, which have to kill it.
func jobSignals(t testing.TB) {
	for _, s := range []os.Signal{syscall.SIGTSTP, syscall.SIGCONT, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM} {
		require.Contains(t, passedOn, s)
	}
	for _, s := range passedOn {
		require.Equal(t, s == syscall.SIGHUP || s == syscall.SIGINT || s == syscall.SIGQUIT || s == syscall.SIGTERM, ends(s), s)
		require.EqualValues(t, 128+int(s.(syscall.Signal)), signalCode(s))
	}
	g := guardCommand("self", "")
	require.NotNil(t, g.SysProcAttr)
	require.True(t, g.SysProcAttr.Setsid, "the guard has a session of its own")
}

func TestJobSignals(t *testing.T) { jobSignals(t) }
