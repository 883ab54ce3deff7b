package main

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/timed"
)

// guard is a second process that kills the command of `failaware lock`: when a hold is
// about to end that lock has not renewed, because it was stopped, and when lock is gone.
// It has a session of its own, so what stops lock's group does not stop it. Lock writes
// to its standard input, 8 bytes each: the id of the command's group, and then when the
// group must be killed, on the hardware clock, after each hold.
type guard struct {
	cmd *exec.Cmd
	to  *os.File
}

// lockGuard is the name of the hidden command that a guard runs.
const lockGuard = "lock-guard"

// startGuard starts a guard of a command that is about to start.
func startGuard() (*guard, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	g := &guard{cmd: &exec.Cmd{Path: self, Args: []string{os.Args[0], lockGuard}, Env: os.Environ(), SysProcAttr: sessionOfItsOwn()}}
	from, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	g.cmd.Stdin, g.to = from, to
	err = g.cmd.Start()
	_ = from.Close()
	if err != nil {
		return nil, errors.Join(err, to.Close())
	}
	return g, nil
}

// tell writes a number. It does not wait for a guard that is stopped, and a guard that
// is gone does not read: then lock alone kills the command.
func (g *guard) tell(x uint64) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], x)
	_ = g.to.SetWriteDeadline(time.Now().Add(time.Millisecond))
	_, _ = g.to.Write(b[:])
}

// dismiss ends the guard, when the group has been killed, and before another group can
// have its id.
func (g *guard) dismiss() {
	_ = g.cmd.Process.Kill()
	_ = g.cmd.Wait() // it was killed
	_ = g.to.Close()
}

func newLockGuardCommand() *cobra.Command {
	return &cobra.Command{
		Use: lockGuard, Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			clock, err := hwclock.New()
			if err != nil {
				return err
			}
			err = runGuard(cmd.InOrStdin(), clock, killGroupOf)
			if err != nil {
				return cli.No(err)
			}
			return nil
		},
	}
}

// runGuard reads from lock, and kills the group when that is due. It returns when lock is
// gone.
func runGuard(r io.Reader, clock *hwclock.Clock, kill func(group int)) error {
	told := make(chan uint64)
	go func() {
		defer close(told)
		var b [8]byte
		for {
			if _, err := io.ReadFull(r, b[:]); err != nil {
				return // lock is gone
			}
			told <- binary.BigEndian.Uint64(b[:])
		}
	}()
	first, ok := <-told
	if !ok {
		return nil // there was no command
	}
	group, err := strconv.Atoi(strconv.FormatUint(first, 10))
	if err != nil || group <= 1 {
		return errors.New("not a process group")
	}
	until, timer := timed.Never, time.NewTimer(forever)
	for {
		select {
		case x, ok := <-told:
			if !ok {
				kill(group)
				return nil
			}
			until = timed.Instant(x)
		case <-timer.C:
		}
		left := until.Sub(clock.Now())
		if left <= 0 {
			kill(group)
			until = timed.Never // lock kills what may come after, when it continues
			left = forever
		}
		timer.Reset(min(left, forever))
	}
}
