package main

import (
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/timed"
)

// watchAt returns the watch of a command whose hold ends at until, for a process that runs
// next at now. The margin is 20.
func watchAt(now, until timed.Instant) *watch {
	clock := hwclock.Of(func() int64 { return int64(now) })
	return &watch{
		l:     &locking{clock: clock, args: []string{"job"}, node: 7, timing: lockTiming{margin: 20}},
		child: &child{guard: &guard{}}, held: &api.Held{Until: until},
	}
}

// What is reported is how long the command ran, however late the report is.
func outcomesAreOfTheDeath(t testing.TB) {
	const until = 1000
	for died := timed.Instant(until - 30); died < until+30; died++ {
		w := watchAt(timed.Instant(until).Add(time.Hour), until)
		w.lose(os.ErrDeadlineExceeded)
		w.killed = true
		err := w.outcome(hwclock.Reading{Now: died}, killedCode)
		var over *overrunError
		if died < until {
			require.EqualError(t, err, "i/o timeout; job was killed", died)
			continue
		}
		require.ErrorAs(t, err, &over, died)
		require.ErrorIs(t, err, os.ErrDeadlineExceeded, "which came first")
		require.EqualValues(t, died-until, over.by)
	}
	w := watchAt(until-1, until)
	w.lose(os.ErrDeadlineExceeded)
	require.ErrorContains(t, w.outcome(hwclock.Reading{Now: until - 1, Era: 1}, killedCode), "the machine slept")
}

// A lock that was stopped sees the death first, and then that its hold ran out. The guard
// of a busy machine may even kill a command whose hold was renewed. In both cases the lead
// is lost. A command that the guard has not killed ended by itself.
func theGuardsKillIsALostLead(t testing.TB) {
	const until = 1000
	for died := timed.Instant(until - 30); died < until; died++ {
		for _, acted := range []bool{false, true} {
			outcome := func(code cli.ExitCode) error {
				w := watchAt(until+9, until)
				w.child.guard.killed = acted
				return w.outcome(hwclock.Reading{Now: died}, code)
			}
			for _, code := range []cli.ExitCode{cli.ExitYes, 1, 128 + 15} {
				require.NoError(t, outcome(code), "it ended by itself")
			}
			switch err := outcome(killedCode); {
			case !acted:
				require.NoError(t, err, "somebody else killed it at %v", died)
			case died < until-10:
				require.ErrorContains(t, err, "the guard did not hear in time that the hold of node 7 was renewed", died)
			default:
				require.EqualError(t, err, "the hold of node 7 was not renewed in time; job was killed", died)
			}
		}
	}
}

func TestTheGuardsKillIsALostLead(t *testing.T) { theGuardsKillIsALostLead(t) }

func TestOutcomesAreOfTheDeath(t *testing.T) { outcomesAreOfTheDeath(t) }

// The time of a death is read before the guard is ended, and before anybody is told.
func deathsAreTimedAtOnce(t testing.TB) {
	require.EqualValues(t, 1, deathTimed(t, false))
	require.EqualValues(t, 50, deathTimed(t, true))
}

// deathTimed returns the time of the death of a command at 1, whose rest is gone at 50.
func deathTimed(t testing.TB, left bool) timed.Instant {
	from, to, err := os.Pipe()
	require.NoError(t, err)
	defer func() { _ = from.Close() }()
	says, out, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, out.Close())
	c := &child{guard: &guard{cmd: exec.Command("sleep", "1000"), to: to, says: says, ended: make(chan struct{})}, dead: make(chan hwclock.Reading, 1)}
	if err := c.guard.cmd.Start(); err != nil {
		_ = to.Close()
		t.Skip("no program sleep: ", err)
	}
	go c.guard.hear()
	now := int64(1)
	c.clock = hwclock.Of(func() int64 {
		if c.guard.cmd.ProcessState != nil {
			return now + 1
		}
		return now
	})
	c.died(func() bool {
		now = 50
		return left
	})
	now = 100
	require.NotNil(t, c.guard.cmd.ProcessState)
	return (<-c.dead).Now
}

func TestDeathsAreTimedAtOnce(t *testing.T) { deathsAreTimedAtOnce(t) }

// A guard that ends although nobody has dismissed it is missed. If it never began, the next one
// would not either.
func guardsAreMissed(t testing.TB) {
	for said, want := range map[string]error{"": errNoGuard, "b": errUnguarded, "bk": errUnguarded} {
		for _, dismissed := range []bool{false, true} {
			says, out, err := os.Pipe()
			require.NoError(t, err)
			_, err = out.WriteString(said)
			require.NoError(t, err)
			require.NoError(t, out.Close())
			g := &guard{says: says, ended: make(chan struct{})}
			g.dismissed.Store(dismissed)
			g.hear()
			<-g.ended
			require.NoError(t, says.Close())
			require.Equal(t, said == "bk", g.killed)
			if dismissed {
				require.NoError(t, g.absence())
				continue
			}
			require.Equal(t, want, g.absence(), said)
			a := newAsked(t)
			a.again = true
			over, err := a.finish(t.Context(), want, 0)
			require.Equal(t, want == errNoGuard, over)
			if over {
				require.ErrorIs(t, err, want)
			}
		}
	}
}

func TestAGuardThatEndsIsMissed(t *testing.T) { guardsAreMissed(t) }

// A lock that was stopped for too long does not go on with a new hold: its guard may have
// killed the command, which would seem to have ended by itself.
func lateRenewalsRenewNothing(t testing.TB) {
	const until = 1000
	for now := timed.Instant(until - 40); now < until+40; now++ {
		for _, late := range []renewal{{held: &api.Held{Until: until * 2}}, {err: os.ErrDeadlineExceeded}} {
			w := watchAt(now, until)
			from, to, err := os.Pipe()
			require.NoError(t, err)
			w.child.guard.to = to
			w.take(late)
			require.NoError(t, to.Close())
			require.NoError(t, from.Close())
			if now < until-20 {
				require.NoError(t, w.lost, now)
				require.Equal(t, late.held != nil, w.held == late.held)
				continue
			}
			require.ErrorContains(t, w.lost, "the hold of node 7 was not renewed in time", now)
			require.EqualValues(t, until, w.held.Until)
		}
	}
}

func TestLateRenewalsRenewNothing(t *testing.T) { lateRenewalsRenewNothing(t) }

// An error that a later answer has mended is no reason why a hold ends.
func TestAMendedErrorIsNoReason(t *testing.T) {
	w := watchAt(10, 1000)
	from, to, err := os.Pipe()
	require.NoError(t, err)
	defer func() { _ = errors.Join(from.Close(), to.Close()) }()
	w.child.guard.to = to
	w.take(renewal{err: os.ErrDeadlineExceeded})
	require.ErrorIs(t, w.expiry(), os.ErrDeadlineExceeded)
	w.take(renewal{held: &api.Held{Until: 2000}})
	require.EqualError(t, w.expiry(), "the hold of node 7 was not renewed in time")
}
