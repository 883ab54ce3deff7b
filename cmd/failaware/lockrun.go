package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/timed"
)

// renewal is the answer to a request for another hold.
type renewal struct {
	held *api.Held
	err  error
}

// watch is a command that runs under a hold.
type watch struct {
	l     *locking
	child *child
	held  *api.Held
	last  error // of the latest request, if it failed

	lost   error         // the reason for ending the command
	killBy timed.Instant // when SIGKILL follows SIGTERM; 0 before. Safety does not depend on it
	killed bool
	said   bool // that the command could not be killed
}

// run runs the command under a hold, which it renews, until the command ends. lost is
// the reason for stopping the command; otherwise code is the command's exit code.
func (l *locking) run(ctx context.Context, path string, held *api.Held) (lost error, code cli.ExitCode, err error) {
	// The kernel kills the child when the thread that started it ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c, err := startChild(l.cmd, path, l.args, l.environment(held), l.clock, l.deadline(held))
	if err != nil {
		return nil, 0, cli.No(fmt.Errorf("lock: %w", err))
	}
	asking, stop := context.WithCancel(ctx)
	defer stop()
	renewals := make(chan renewal)
	go l.renew(asking, l.timing, renewals)
	w := &watch{l: l, child: c, held: held}
	guardEnds := c.guard.ended
	for {
		timer := time.NewTimer(w.step())
		select {
		case died := <-c.dead:
			timer.Stop()
			<-c.ended
			for _, id := range c.left {
				sayUnkilled(l.cmd.ErrOrStderr(), fmt.Sprintf("process %d, which %s has left,", id, l.args[0]), nil)
			}
			return w.outcome(died, c.code()), c.code(), nil
		case <-guardEnds:
			guardEnds = nil
			w.lose(c.guard.absence())
		case r := <-renewals:
			w.take(r)
		case s := <-l.signals:
			c.signal(s)
			l.note(s)
		case <-ctx.Done():
			w.lose(context.Cause(ctx))
			ctx = context.Background() // do not cancel again
		case <-timer.C:
		}
		timer.Stop()
	}
}

// environment returns the variables of a command. An edict in lock's own environment, as that
// of a lock around it, is none of this lead.
func (l *locking) environment(held *api.Held) []string {
	const edict = "FAILAWARE_EDICT="
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, edict) })
	if held.Edict != "" {
		env = append(env, edict+held.Edict)
	}
	return append(env, fmt.Sprintf("FAILAWARE_LEADER=%d", l.node))
}

// note remembers a signal that ends lock, even if the lead is lost before the command has
// ended by it. SIGHUP does not count: it may ask the command to read its configuration.
func (l *locking) note(s os.Signal) {
	if endsLock(s) && !hangup(s) {
		l.ending = s
	}
}

// renew asks for holds until ctx is done.
func (l *locking) renew(ctx context.Context, t lockTiming, to chan<- renewal) {
	tick := time.NewTicker(t.renew)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		asking, cancel := context.WithTimeout(ctx, t.longer)
		h, err := l.client.Hold(asking, l.clock, t.drift, l.global, "")
		cancel()
		select {
		case to <- renewal{h, err}:
		case <-ctx.Done():
			return
		}
	}
}

// take handles an answer to a request for another hold. Only an answer of the node ends
// the lead. Without an answer the hold expires. An answer that comes when the command
// should have been killed renews nothing: the guard may have killed it.
func (w *watch) take(r renewal) {
	switch {
	case w.left() <= 0:
		w.lose(w.expiry())
	case refused(r.err):
		w.lose(r.err)
	case r.err != nil:
		w.last = r.err
	case !r.held.SameLead(w.held):
		w.lose(fmt.Errorf("node %d lost the lead and leads again", w.l.node))
	case r.held.Until > w.held.Until:
		w.held, w.last = r.held, nil
		w.child.guard.until(w.l.deadline(w.held))
	}
}

// deadline returns when the guard kills the command if nothing else does: half of the
// margin later than this process would.
func (l *locking) deadline(h *api.Held) timed.Instant { return h.Until.Add(-l.timing.margin / 2) }

// left returns the time until the command must be killed.
func (w *watch) left() time.Duration { return w.held.LeftAt(w.l.clock.Read()) - w.l.timing.margin }

func (w *watch) lose(why error) {
	if w.lost == nil {
		w.lost = why
	}
}

// forever is a wait that another event ends.
const forever = time.Hour

// step does the action that is due, if any, and returns the time until the next one.
func (w *watch) step() time.Duration {
	if w.killed {
		return w.kill()
	}
	left := w.left()
	if left <= w.l.termBefore && w.lost == nil {
		w.lose(w.expiry())
	}
	switch {
	case w.lost == nil:
		return left - w.l.termBefore
	case w.l.termBefore == 0 || left <= 0:
	case w.killBy == 0:
		w.killBy = w.l.clock.Now().Add(w.l.termBefore)
		w.child.terminate()
		return min(left, w.l.termBefore)
	case w.l.clock.Now() < w.killBy:
		return min(left, w.killBy.Sub(w.l.clock.Now()))
	}
	return w.kill()
}

// killAgain is the time from one attempt to kill a command to the next: one that has changed
// its user may change it again.
const killAgain = 20 * time.Millisecond

// kill kills the command. It says once if the system does not let it: after a second attempt,
// because a control group may have killed the command, or the command may just have ended.
func (w *watch) kill() time.Duration {
	err := w.child.kill()
	if err != nil && w.killed && !w.said {
		sayUnkilled(w.l.cmd.ErrOrStderr(), w.l.args[0], err)
		w.said = true
	}
	w.killed = true
	if err == nil {
		return forever
	}
	return killAgain
}

// sayUnkilled says that processes run on which should have been killed.
func sayUnkilled(to io.Writer, what string, err error) {
	reason := ""
	if err != nil {
		reason = ": " + err.Error()
	}
	_, _ = fmt.Fprintf(to, "failaware: lock: %s could not be killed, and may run on without the lead%s\n", what, reason)
}

// expiry returns the reason why a hold expired: the node did not answer, or its own lease
// was not renewed.
func (w *watch) expiry() error {
	if w.last == nil {
		return fmt.Errorf("the hold of node %d was not renewed in time", w.l.node)
	}
	return fmt.Errorf("the hold of node %d was not renewed: %w", w.l.node, w.last)
}

// guarded returns the reason why the guard has killed the command.
func (w *watch) guarded(died hwclock.Reading) error {
	if w.held.LeftAt(died) > w.l.timing.margin/2 {
		return fmt.Errorf("the guard did not hear in time that the hold of node %d was renewed: the machine is too busy", w.l.node)
	}
	return w.expiry()
}

// outcome returns the reason for stopping the command, if any, and how long it may have
// run without the lead until it died. The guard may have killed the command although this
// process knows no reason: because this process was stopped, or because the guard read a
// renewal too late.
func (w *watch) outcome(died hwclock.Reading, code cli.ExitCode) error {
	if code == killedCode && w.child.guard.killed && w.lost == nil {
		w.lose(w.guarded(died))
		w.killed = true
	}
	switch {
	case w.held.LeftAt(died) == 0:
		w.lose(w.expiry())
		return fmt.Errorf("%w; %w", w.lost, &overrunError{died.Now.Sub(w.held.Until)})
	case w.lost != nil && w.killed:
		return fmt.Errorf("%w; %s was killed", w.lost, w.l.args[0])
	}
	return w.lost
}

// overrunError says that the command may have run longer than its hold.
type overrunError struct{ by time.Duration }

func (e *overrunError) Error() string {
	if e.by <= 0 {
		return "the machine slept, and the command may have run without the lead"
	}
	return fmt.Sprintf("the command may have run for up to %v without the lead", e.by.Round(time.Microsecond))
}

// signalCode is the exit code of a process that a signal ended, as in shells.
func signalCode(s os.Signal) cli.ExitCode { return cli.ExitCode(128 + numberOf(s)) }
