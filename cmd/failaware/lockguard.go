package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/timed"
)

// guard is a second process that kills the command of `failaware lock`: when a hold that
// lock has not renewed is about to end, because lock was stopped, and when lock is gone.
// It has a session of its own, so a signal that stops lock's group does not stop it. It
// reads told values from its standard input. Before it kills because of a hold's end, it
// writes a byte to its standard output.
type guard struct {
	cmd   *exec.Cmd
	to    *os.File
	says  *os.File
	acted bool // it has killed the command because of a hold's end; known once it is dismissed
}

// told is what a guard is told: first when to kill the command, then, before the command
// runs, the id of its group, and later how long other holds last.
type told struct {
	what  byte
	value uint64
}

const (
	toldUntil = 'u' // value is when the group must be killed, on the hardware clock
	toldGroup = 'g' // value is the id of the command's process group
	toldSize  = 1 + 8
)

// bytes returns what is written. It is short, so pipes carry all of it or nothing.
func (t told) bytes() []byte { return binary.BigEndian.AppendUint64([]byte{t.what}, t.value) }

// lockGuard is the name of the hidden command that a guard runs.
const lockGuard = "lock-guard"

// startGuard starts a guard of a command that is about to start, with a control group.
func startGuard(all cgroup) (*guard, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	g := &guard{cmd: guardCommand(self, all)}
	from, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	says, out, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, from.Close(), to.Close())
	}
	g.cmd.Stdin, g.to, g.cmd.Stdout, g.says = from, to, out, says
	err = g.cmd.Start()
	_, _ = from.Close(), out.Close()
	if err != nil {
		return nil, errors.Join(err, to.Close(), says.Close())
	}
	return g, nil
}

// guardCommand returns the command that is a guard, in a session of its own.
func guardCommand(self string, all cgroup) *exec.Cmd {
	return &exec.Cmd{Path: self, Args: []string{os.Args[0], lockGuard, string(all)}, Env: os.Environ(), SysProcAttr: sessionOfItsOwn()}
}

// until tells the guard when to kill the group. It does not wait for a guard that is
// stopped, and a guard that is gone does not read: then lock alone kills the command.
func (g *guard) until(t timed.Instant) {
	writeNow(g.to, told{toldUntil, uint64(t)}.bytes())
}

// dismiss ends the guard, when the group has been killed, and before another group can
// have its id. It learns what the guard has done.
func (g *guard) dismiss() {
	_ = g.cmd.Process.Kill()
	_ = g.cmd.Wait() // it was killed
	_ = g.to.Close()
	n, _ := g.says.Read(make([]byte, 1)) // it does not wait: nobody can write any more
	g.acted = n > 0
	_ = g.says.Close()
}

func newLockGuardCommand() *cobra.Command {
	return &cobra.Command{
		Use: lockGuard, Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			clock, err := hwclock.New()
			if err != nil {
				return err
			}
			signal.Ignore(syscall.SIGPIPE) // from a lock that is gone: the group must be killed all the same
			all := cgroup(args[0])
			err = runGuard(hear(cmd.InOrStdin()), cmd.OutOrStdout(), clock, func(group int) {
				all.kill()
				killGroupOf(group)
			})
			all.remove() // lock is gone
			if err != nil {
				return cli.No(err)
			}
			return nil
		},
	}
}

// runGuard acts on what it is told, and kills the group when that is due, once it has said
// so. It returns when nobody can tell it more: lock is gone.
//
// A guard that runs late kills nothing whose hold was renewed in time: it reads the clock,
// then all that it was told by then, and then decides, without waiting for anybody.
func runGuard(h *hearing, says io.Writer, clock *hwclock.Clock, kill func(group int)) error {
	var group int // 0: no command has started
	until, timer := timed.Never, time.NewTimer(forever)
	for {
		select {
		case <-h.more:
		case <-timer.C:
		}
		now := clock.Now()
		news, gone := h.take()
		for _, t := range news {
			switch {
			case t.what == toldUntil:
				until = timed.Instant(t.value)
			case t.value <= 1 || t.value > math.MaxInt32:
				return fmt.Errorf("%d is not a process group", t.value)
			default:
				group = int(t.value)
			}
		}
		switch {
		case gone && group != 0:
			kill(group)
			return nil
		case gone:
			return nil
		case group != 0 && until <= now:
			_, _ = says.Write([]byte{1})
			kill(group)
			until = timed.Never // lock kills what may come after, when it continues
		}
		timer.Reset(untilDue(group, until, clock))
	}
}

// untilDue returns how long a guard may wait: nothing is due before a command has started.
func untilDue(group int, until timed.Instant, clock *hwclock.Clock) time.Duration {
	if group == 0 {
		return forever
	}
	return min(until.Sub(clock.Now()), forever)
}
