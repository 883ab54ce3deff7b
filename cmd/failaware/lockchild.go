package main

import (
	"fmt"
	"os"
	"os/exec"
	"sync"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/timed"
)

// child is the command of `failaware lock`, with its process group.
type child struct {
	cmd     *exec.Cmd
	cgroup  cgroup // has its descendants, where there are control groups
	earlier []int  // other children of this process
	guard   *guard
	clock   *hwclock.Clock
	dead    chan hwclock.Reading // has when neither it nor its descendants ran any more
	ended   chan struct{}        // closed afterwards, when what belongs to it is gone
	left    []int                // then: processes that it has left, and that could not be killed

	// killing kills the group: killGroup, except in tests.
	killing func(*os.Process) error

	mu   sync.Mutex
	gone bool // another process may have its id
}

// startChild starts a command and its guard, which kills it at until.
func startChild(parent *cobra.Command, path string, args, env []string, clock *hwclock.Clock, until timed.Instant) (*child, error) {
	c := &child{cmd: &exec.Cmd{Path: path, Args: args, Env: env,
		Stdin: parent.InOrStdin(), Stdout: parent.OutOrStdout(), Stderr: parent.ErrOrStderr(),
		SysProcAttr: newProcessGroup()}, cgroup: newCgroup(), clock: clock,
		dead: make(chan hwclock.Reading, 1), ended: make(chan struct{}), killing: killGroup}
	var err error
	if c.earlier, err = adopt(); err == nil {
		err = c.start(until)
	}
	if err != nil {
		c.cgroup.remove()
		return nil, err
	}
	go func() {
		defer close(c.ended)
		c.collect()
	}()
	return c, nil
}

// start starts the guard and then the command.
func (c *child) start(until timed.Instant) (err error) {
	if c.guard, err = startGuard(c.cgroup, c.cmd.Stderr); err != nil {
		return fmt.Errorf("the guard: %w", err)
	}
	c.guard.until(until)
	if err := c.guard.start(c.cmd, c.cgroup); err != nil {
		c.guard.dismiss()
		return err
	}
	return nil
}

// died sends the time when the command died, and then ends the guard, which takes longer.
// The time is taken here because the receiver may run much later. rest kills the processes
// that the command has left, and reports whether there were any: the time is then that of
// their death.
func (c *child) died(rest func() bool) {
	at := c.clock.Read()
	if rest() {
		at = c.clock.Read()
	}
	c.dead <- at
	c.guard.dismiss()
}

// withGroup calls f with the leader of the group unless the group is gone.
func (c *child) withGroup(f func(*os.Process)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.gone {
		f(c.cmd.Process)
	}
}

// kill kills the group. It returns an error if the system does not let it.
func (c *child) kill() (err error) {
	c.withGroup(func(p *os.Process) {
		c.cgroup.kill()
		err = c.killing(p)
	})
	return err
}

func (c *child) terminate()         { c.withGroup(terminateGroup) }
func (c *child) signal(s os.Signal) { c.withGroup(func(p *os.Process) { signalGroup(p, s) }) }

// code returns the exit code of the ended command.
func (c *child) code() cli.ExitCode {
	if n := endedBySignal(c.cmd.ProcessState); n != 0 {
		return cli.ExitCode(128 + n)
	}
	return cli.ExitCode(c.cmd.ProcessState.ExitCode())
}
