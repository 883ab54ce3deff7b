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
	timing  lockTiming // of the node that was asked last
	node    int
}

// lockTiming is what of a node's timing counts for holds.
type lockTiming struct {
	drift  timed.Drift
	margin time.Duration // before the end of a hold, in which a process dies
	renew  time.Duration // from one question for a hold to the next
	longer time.Duration // after which an answer is of no use
	grace  time.Duration // the longest --term-before
}

func lockTimingOf(t *api.Timing) lockTiming {
	l := lockTiming{drift: timed.Drift(t.MaxDriftPPB), margin: time.Duration(t.SchedulingDelayNS),
		renew: time.Duration(t.ElectionPeriodNS) / 2, longer: time.Duration(t.LockTimeNS)}
	// A lease is renewed an election period after it began, by a round that takes
	// two messages and a turn of the loop; a hold is as old as the question.
	l.grace = max(0, l.longer-2*l.renew-2*time.Duration(t.OneWayTimeoutNS)-l.margin-l.renew-l.margin)
	return l
}

func newLockCommand(g *globals) *cobra.Command {
	l := &locking{g: g}
	cmd := &cobra.Command{
		Use: "lock [flags] -- CMD ARGS…", Short: "Runs a command while the node leads, and stops it before another can lead",
		Long: `Waits until the node at --addr leads, runs CMD, and kills it with SIGKILL before the
lease of the node can end, with all that is in its process group. While CMD runs, the
node has promised that nobody else leads, even if it resigns. Without --global that is
true of the part of the group that the node is in, and each part of a split network
runs its own CMD; with --global (nodes need --quorum) there is one CMD in all.

CMD gets standard input, output and error, and the signals that lock gets, but is not in
the foreground of a terminal. FAILAWARE_LEADER is the id of the node; with --token,
FAILAWARE_EDICT is an edict for that text. What CMD leaves in its process group is killed
when it ends. Run one lock at a node: several all run.

The exit code is that of CMD, 128 + N if signal N ended it; 1 if the lead was lost, or the
node did not lead within --timeout (by default there is no limit); 2 if CMD cannot be
started, or for wrong usage.

Nothing can stop CMD while lock itself does not run: when it is stopped by a signal, or
its machine stalls or is paused. When it goes on it kills CMD, and says for how long CMD
may have run too long. Where that is too late, have CMD send edicts to a store that
checks them. On Linux, CMD is killed when lock is; its own children are not.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("lock: a command is needed: failaware lock -- CMD ARGS")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			l.cmd, l.args = cmd, args
			return l.main(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.SetInterspersed(false) // the flags after CMD are its own
	f.BoolVar(&l.global, "global", false, "while the node leads globally, with the votes of a quorum")
	f.BoolVar(&l.again, "again", false, "when the lead was lost, wait for the next one and run CMD again")
	f.BoolVar(&l.resign, "resign", false, "when CMD has ended by itself, have the node give up the lead")
	f.DurationVar(&l.termBefore, "term-before", 0, "how long before SIGKILL CMD gets SIGTERM; the node's lock_time bounds it")
	f.StringVar(&l.token, "token", "", "with --global: the text to make an edict for, such as the name of what CMD writes to")
	return cmd
}

func (l *locking) main(ctx context.Context) error {
	switch {
	case l.termBefore < 0:
		return cli.Wrong("lock: --term-before must not be below 0")
	case l.token != "" && !l.global:
		return cli.Wrong("lock: --token is of use with --global only: edicts are of global leaders")
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
		switch {
		case err != nil:
			return err
		case lost == nil:
			l.handOver(ctx)
			if code == cli.ExitYes {
				return nil
			}
			return &cli.ExitError{Code: code}
		case !l.again || ctx.Err() != nil:
			return cli.No(fmt.Errorf("lock: %w", lost))
		}
		_, _ = fmt.Fprintf(l.cmd.ErrOrStderr(), "failaware: lock: %v; waiting for the next lead\n", lost)
	}
}

// await waits for a hold that lasts long enough to begin with.
func (l *locking) await(ctx context.Context) (*api.Held, error) {
	if l.g.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, l.g.timeout)
		defer cancel()
	}
	last := errors.New("nothing was asked")
	for {
		held, err := l.first(ctx)
		switch {
		case err == nil && held.Left() > l.timing.margin+l.termBefore:
			return held, nil
		case err == nil:
			last = fmt.Errorf("node %d leads, but not for long enough", l.node)
		case !passes(err) && ctx.Err() == nil:
			return nil, err
		case ctx.Err() == nil:
			last = err
		}
		select {
		case s := <-l.signals:
			if ends(s) {
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

// first asks for the first hold of a lead. It may be that of a node that was
// started anew, with other settings.
func (l *locking) first(ctx context.Context) (*api.Held, error) {
	ctx, cancel := context.WithTimeout(ctx, defaultTimeout)
	defer cancel()
	var s api.Status
	if err := l.client.Get(ctx, "/v1/status", &s); err != nil {
		return nil, err
	}
	l.node, l.timing = s.Node, lockTimingOf(&s.Timing)
	if l.termBefore > l.timing.grace {
		return nil, cli.Wrong("lock: --term-before: %v is too long: of the node's lock_time of %v, %v are sure to be left; "+
			"a longer one needs nodes with a longer --lock-time", l.termBefore, l.timing.longer, l.timing.grace)
	}
	return l.client.Hold(ctx, l.clock, l.timing.drift, l.global, l.token)
}

// passes reports whether an error may be gone later: there is no node yet, or it
// does not lead.
func passes(err error) bool {
	if _, gone := errors.AsType[*api.UnreachableError](err); gone {
		return true
	}
	return refused(err) || isStopped(err)
}

// refused reports whether a node said that it does not lead.
func refused(err error) bool { return hasStatus(err, http.StatusConflict) }

func isStopped(err error) bool { return hasStatus(err, http.StatusServiceUnavailable) }

func hasStatus(err error, code int) bool {
	e, ok := errors.AsType[*api.StatusError](err)
	return ok && e.Code == code
}

// handOver has the node resign, if that is wanted.
func (l *locking) handOver(ctx context.Context) {
	if !l.resign {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, defaultTimeout)
	defer cancel()
	if err := l.client.Post(ctx, "/v1/resign"); err != nil && !refused(err) {
		_, _ = fmt.Fprintf(l.cmd.ErrOrStderr(), "failaware: lock: the node has not resigned: %v\n", err)
	}
}
