package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/sched"
	"github.com/failaware/failaware/timed"
)

// locking is `failaware lock`.
type locking struct {
	g    *globals
	cmd  *cobra.Command
	args []string

	global, again, resign bool
	termBefore            time.Duration
	token                 string

	client  *api.Client
	clock   *hwclock.Clock
	signals <-chan os.Signal
	ending  os.Signal  // that has come while the command ran, and allows no other run; or nil
	timing  lockTiming // of the last asked node
	node    int
}

// lockTiming is the part of a node's timing that matters for holds.
type lockTiming struct {
	drift  timed.Drift
	margin time.Duration // before the end of a hold, for the process to die
	renew  time.Duration // from one request for a hold to the next
	longer time.Duration // time after which an answer is useless
	grace  time.Duration // the longest --term-before
}

func lockTimingOf(t *api.Timing) lockTiming {
	l := lockTiming{drift: timed.Drift(t.MaxDriftPPB), margin: time.Duration(t.SchedulingDelayNS),
		renew: time.Duration(t.ElectionPeriodNS) / 2, longer: time.Duration(t.LockTimeNS)}
	// A lease is renewed an election period after it began, by a round that takes
	// two messages and a turn of the loop; a hold begins with its request.
	l.grace = max(0, l.longer-2*l.renew-2*time.Duration(t.OneWayTimeoutNS)-l.margin-l.renew-l.margin)
	return l
}

func newLockCommand(g *globals) *cobra.Command {
	l := &locking{g: g}
	cmd := &cobra.Command{
		Use: "lock [flags] -- CMD ARGS…", Short: "Run a command while the node leads, and stop it before another can lead",
		Long: `Wait until the node at --addr leads, run CMD, and kill its process group with SIGKILL
before the lease of the node can end. While CMD runs, the node guarantees that no other
node leads, even if it resigns. Without --global this is true of the node's part of the
group, and each part of a split network runs its own CMD. With --global (nodes need
--quorum) there is one CMD in the whole network.

CMD inherits standard input, output and error, and gets the signals that lock gets, but
it is not in the foreground of a terminal. FAILAWARE_LEADER is the id of the node.
FAILAWARE_EDICT is an edict for the text of --token, and not set without. When CMD ends, the
rest of its process group is killed. Run one lock at a node: several all run.

The exit code is that of CMD, 128 + N if signal N ended it; 1 if the lead was lost, the
node did not lead within --timeout (by default there is no limit), or lock failed; 2 if CMD
cannot be started, or for wrong usage.

A second process guards CMD: it kills the process group when a hold is about to end that
lock has not renewed because it was stopped, and when lock is killed. If the guard is
killed, lock ends CMD as if the lead were lost. On Linux, where lock may make a control
group (cgroup v2), both kill all descendants of CMD; otherwise lock alone kills those that
have left the process group, when CMD has ended, and what has changed its real user (sudo)
cannot be killed: lock says so, and waits. Nothing can stop CMD while both processes do not
run, as when the machine stalls or is paused. When lock continues, it kills CMD and prints
how much too long CMD may have run. If that is too late, have CMD send edicts to a store
that checks them. On Windows only the process of CMD itself is killed, and nothing that it
has started.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("lock: a command is needed: failaware lock -- CMD ARGS")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			l.cmd, l.args = cmd, args
			_ = sched.Prompt() // the guard inherits it; without it, a busy machine kills later
			return l.main(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.SetInterspersed(false) // the flags after CMD are its own
	f.BoolVar(&l.global, "global", false, "run CMD while the node leads globally, with the votes of a quorum")
	f.BoolVar(&l.again, "again", false, "when the lead is lost, wait for the next one and run CMD again, unless SIGINT, SIGQUIT or SIGTERM has come")
	f.BoolVar(&l.resign, "resign", false, "when CMD ends by itself, have the node give up the lead")
	f.DurationVar(&l.termBefore, "term-before", 0, "how long before SIGKILL CMD gets SIGTERM; the node's lock_time bounds it")
	f.StringVar(&l.token, "token", "", "with --global: the text to create an edict for, such as the name of the resource that CMD writes to")
	return cmd
}

func (l *locking) main(ctx context.Context) error {
	switch {
	case l.termBefore < 0:
		return cli.Wrong("lock: --term-before must not be below 0")
	case l.token != "" && !l.global:
		return cli.Wrong("lock: --token needs --global: only global leaders create edicts")
	}
	path, err := exec.LookPath(l.args[0])
	if err != nil {
		return cli.Wrong("lock: %w", err)
	}
	if l.client, err = l.g.client(); err != nil {
		return err
	}
	if l.clock, err = hwclock.New(); err != nil {
		return err
	}
	signals, stop := commandSignals()
	defer stop()
	l.signals = signals
	for {
		held, err := l.await(ctx)
		if err != nil {
			return err
		}
		lost, code, err := l.run(ctx, path, held)
		if err != nil {
			return err
		}
		if ends, err := l.finish(ctx, lost, code); ends {
			return err
		}
	}
}

// finish reports whether lock ends now that the command has ended, or was stopped because
// of lost. If so, it also returns the error of lock.
func (l *locking) finish(ctx context.Context, lost error, code cli.ExitCode) (bool, error) {
	say := func(what string) {
		_, _ = fmt.Fprintf(cli.Text(l.cmd.ErrOrStderr()), "failaware: lock: %v%s\n", lost, what)
	}
	switch {
	case lost == nil:
		l.handOver(ctx)
		if code == cli.ExitYes {
			return true, nil
		}
		return true, &cli.ExitError{Code: code}
	case errors.Is(lost, errNoGuard): // the next one would not begin either
		return true, cli.No(fmt.Errorf("lock: %w", lost))
	case !l.again || ctx.Err() != nil:
		return true, cli.No(fmt.Errorf("lock: %w", lost))
	case l.ending != nil:
		say("")
		return true, &cli.ExitError{Code: signalCode(l.ending)}
	}
	say("; waiting for the next lead")
	return false, nil
}

// await waits for a hold that lasts long enough to start the command.
func (l *locking) await(ctx context.Context) (*api.Held, error) {
	if l.g.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, l.g.timeout)
		defer cancel()
	}
	last := errors.New("no answer yet")
	for {
		held, err := l.firstHold(ctx)
		switch {
		case err == nil && l.suffices(held):
			return held, nil
		case err == nil:
			last = fmt.Errorf("node %d leads, but not for long enough", l.node)
		case !retryable(err) && ctx.Err() == nil:
			return nil, err
		case ctx.Err() == nil:
			last = err
		}
		select {
		case s := <-l.signals:
			if endsLock(s) {
				return nil, &cli.ExitError{Code: signalCode(s)}
			}
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) {
				return nil, ctx.Err()
			}
			return nil, cli.No(fmt.Errorf("lock: not in time; %w", last))
		case <-time.After(waitEvery):
		}
	}
}

// suffices reports whether a hold lasts long enough to start the command, so that the
// command need not be stopped at once.
func (l *locking) suffices(h *api.Held) bool { return h.Left() > l.timing.margin+l.termBefore }

// firstHold asks for the first hold of a lead. It asks for the timing again, because the
// node may have been restarted with other settings.
func (l *locking) firstHold(ctx context.Context) (*api.Held, error) {
	ctx, cancel := context.WithTimeout(ctx, defaultTimeout)
	defer cancel()
	var s api.Status
	if err := l.client.Get(ctx, "/v1/status", &s); err != nil {
		return nil, err
	}
	l.node, l.timing = s.Node, lockTimingOf(&s.Timing)
	if l.termBefore > l.timing.grace {
		return nil, cli.Wrong("lock: --term-before: %v is too long: of the node's lock_time of %v, only %v are sure to be left; "+
			"a longer one needs nodes with a longer --lock-time", l.termBefore, l.timing.longer, l.timing.grace)
	}
	held, err := l.client.Hold(ctx, l.clock, l.timing.drift, l.global, l.token)
	if err == nil || !l.global {
		return held, err
	}
	var e api.Epoch
	if l.client.Get(ctx, "/v1/epoch", &e) == nil && e.Static && e.Quorum == "" {
		return nil, cli.Wrong("lock: --global: node %d never leads globally: it runs without --quorum", l.node)
	}
	return nil, err
}

// retryable reports whether a later request may succeed: the node does not run yet, or
// does not lead.
func retryable(err error) bool {
	return unreached(err) || refused(err) || isStopped(err)
}

// refused reports whether a node answered that it does not lead.
func refused(err error) bool { return hasStatus(err, http.StatusConflict) }

func isStopped(err error) bool { return hasStatus(err, http.StatusServiceUnavailable) }

func hasStatus(err error, code int) bool {
	e, ok := errors.AsType[*api.StatusError](err)
	return ok && e.Code == code
}

// handOver asks the node to resign if --resign is set.
func (l *locking) handOver(ctx context.Context) {
	if !l.resign {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, defaultTimeout)
	defer cancel()
	if err := l.client.Post(ctx, "/v1/resign"); err != nil && !refused(err) {
		_, _ = fmt.Fprintf(cli.Text(l.cmd.ErrOrStderr()), "failaware: lock: the node did not resign: %v\n", err)
	}
}
