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
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/timed"
)

// guard is a second process, which kills the command of `failaware lock` when lock is gone,
// or is stopped and lets a hold end. It runs in its own session, so a signal that stops
// lock's group does not stop it, and it ignores those that end a service. It reads values of
// type guardMessage from its standard input. It writes guardBegins to its standard output,
// and guardKills before it kills because a hold ends.
type guard struct {
	cmd       *exec.Cmd
	to        *os.File
	says      *os.File
	dismissed atomic.Bool
	ended     chan struct{} // closed when it has ended; the rest is known then
	began     bool
	killed    bool // it has killed the command because of a hold's end
}

// What a guard says.
const (
	guardBegins = 'b'
	guardKills  = 'k'
)

// guardMessage is a message to a guard. The first is a messageKillAt. A messageGroup follows
// before the command runs, and a messageKillAt after each renewal of the hold.
type guardMessage struct {
	kind  byte
	value uint64
}

const (
	messageKillAt = 'u' // value is when the group must be killed, on the hardware clock
	messageGroup  = 'g' // value is the id of the command's process group
	messageSize   = 1 + 8
)

// bytes returns the encoding of m, which is short enough for a pipe to write it atomically.
func (m guardMessage) bytes() []byte { return binary.BigEndian.AppendUint64([]byte{m.kind}, m.value) }

// lockGuard is the name of the hidden command that a guard runs.
const lockGuard = "lock-guard"

// startGuard starts a guard for a command that will run in a control group. The guard writes
// to stderr if that is a file, which lasts longer than lock.
func startGuard(group cgroup, stderr io.Writer) (*guard, error) {
	path, err := self()
	if err != nil {
		return nil, err
	}
	g := &guard{cmd: guardCommand(path, group), ended: make(chan struct{})}
	if f, ok := stderr.(*os.File); ok {
		g.cmd.Stderr = f
	}
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
	go g.hear()
	return g, nil
}

// guardCommand returns the command that runs a guard, in its own session.
func guardCommand(path string, group cgroup) *exec.Cmd {
	return &exec.Cmd{Path: path, Args: []string{os.Args[0], lockGuard, cli.Version(), string(group)}, Env: os.Environ(), SysProcAttr: newSession()}
}

// until tells the guard when to kill the group. It does not block. If the guard is stopped
// or gone, only lock kills the command.
func (g *guard) until(t timed.Instant) {
	writeNow(g.to, guardMessage{messageKillAt, uint64(t)}.bytes())
}

// hear hears what the guard says until it ends, for whatever reason.
func (g *guard) hear() {
	defer close(g.ended)
	for b := make([]byte, 1); ; {
		if _, err := io.ReadFull(g.says, b); err != nil {
			return // the only writer has ended
		}
		g.began = g.began || b[0] == guardBegins
		g.killed = g.killed || b[0] == guardKills
	}
}

// dismiss ends the guard. It must be called after the group was killed and before the id of
// the group can be used again.
func (g *guard) dismiss() {
	g.dismissed.Store(true)
	_ = g.cmd.Process.Kill()
	_ = g.cmd.Wait() // it was killed
	_ = g.to.Close()
	<-g.ended
	_ = g.says.Close()
}

// Reasons why a command has no guard.
var (
	errUnguarded = errors.New("the guard was ended")
	errNoGuard   = errors.New("the guard did not begin")
)

// absence returns why the guard has ended although nobody has dismissed it, or nil.
func (g *guard) absence() error {
	switch {
	case g.dismissed.Load():
		return nil
	case g.began:
		return errUnguarded
	}
	return errNoGuard
}

func newLockGuardCommand() *cobra.Command {
	return &cobra.Command{
		Use: lockGuard, Hidden: true, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := sameBuild(args, 2); err != nil {
				return err
			}
			clock, err := hwclock.New()
			if err != nil {
				return err
			}
			// SIGPIPE comes from a lock that is gone: the group must be killed all the same. The
			// others, as at the end of a service, are for lock and its command.
			// On Windows those that nobody listens to end a process, even if it ignores them.
			signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM)
			_, _ = cmd.OutOrStdout().Write([]byte{guardBegins})
			takeName()
			descendants := cgroup(args[1])
			err = runGuard(openInbox(cmd.InOrStdin()), cmd.OutOrStdout(), clock, func(group int) {
				descendants.kill()
				if err := killGroupOf(group); err != nil && descendants == "" {
					sayUnkilled(cmd.ErrOrStderr(), fmt.Sprintf("process group %d", group), err)
				}
			})
			descendants.remove() // lock is gone
			if err != nil {
				return cli.No(err)
			}
			return nil
		},
	}
}

// runGuard handles messages, and kills the group when its hold ends, after a write to
// report. It returns when the input ends, because lock is gone.
//
// A guard that runs late kills no command whose hold was renewed in time: it reads the
// clock first, then all messages that were sent before, and then decides without blocking.
func runGuard(in *inbox, report io.Writer, clock *hwclock.Clock, kill func(group int)) error {
	var group int           // 0: no command has started
	var until timed.Instant // in the past: a command has its hold before it starts
	timer := time.NewTimer(forever)
	for {
		select {
		case <-in.ready:
		case <-timer.C:
		}
		now := clock.Now()
		messages, closed := in.take()
		for _, t := range messages {
			switch {
			case t.kind == messageKillAt:
				until = timed.Instant(t.value)
			case t.value <= 1 || t.value > math.MaxInt32:
				return fmt.Errorf("%d is not a process group", t.value)
			default:
				group = int(t.value)
			}
		}
		switch {
		case closed && group != 0:
			kill(group)
			return nil
		case closed:
			return nil
		case group != 0 && until <= now:
			_, _ = report.Write([]byte{guardKills})
			kill(group)
			until = timed.Never // lock kills later processes of the group when it continues
		}
		timer.Reset(untilDue(group, until, clock))
	}
}

// untilDue returns the time until the guard must kill the group, if the group is known.
func untilDue(group int, until timed.Instant, clock *hwclock.Clock) time.Duration {
	if group == 0 {
		return forever
	}
	return min(until.Sub(clock.Now()), forever)
}
