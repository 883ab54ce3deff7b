package main

import (
	"bytes"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// A command that the system does not let lock kill, as one that has become another user's, is
// said to run on, once and soon; and it is killed when the system lets it.
func unkilledIsSaid(t testing.TB) {
	p := play(t, 20, 0, 200)
	p.child.gone, p.child.cmd = false, &exec.Cmd{Process: &os.Process{}}
	var said bytes.Buffer
	p.l.cmd = &cobra.Command{}
	p.l.cmd.SetErr(&said)
	answers := []error{syscall.EPERM, syscall.EPERM, syscall.EPERM, nil}
	p.child.killing = func(*os.Process) error {
		err := answers[0]
		answers = answers[1:]
		return err
	}
	p.now = 180
	require.Equal(t, killAgain, p.step())
	require.True(t, p.killed)
	require.Zero(t, said.Len(), "a control group may have killed it")
	for range 2 {
		require.Equal(t, killAgain, p.step())
		require.Equal(t, "failaware: lock: job could not be killed, and may run on without the lead: operation not permitted\n", said.String())
	}
	require.Equal(t, forever, p.step())
	require.Empty(t, answers)
	p.guardTold(t)
}

func TestACommandThatIsNotKilledIsSaid(t *testing.T) { unkilledIsSaid(t) }
