//go:build unix

package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/cli"
)

// What stops or ends a terminal's job stops or ends the command, and neither lock nor its
// guard, which have to kill it.
func jobSignals(t testing.TB) {
	for _, s := range []os.Signal{syscall.SIGTSTP, syscall.SIGCONT, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM} {
		require.Contains(t, passedOn, s)
	}
	for _, s := range passedOn {
		require.Equal(t, s == syscall.SIGHUP || s == syscall.SIGINT || s == syscall.SIGQUIT || s == syscall.SIGTERM, endsLock(s), s)
		require.EqualValues(t, 128+int(s.(syscall.Signal)), signalCode(s))
	}
	g := guardCommand("self", "")
	require.NotNil(t, g.SysProcAttr)
	require.True(t, g.SysProcAttr.Setsid, "the guard has a session of its own")
}

func TestJobSignals(t *testing.T) { jobSignals(t) }

// A signal to end counts also if the lead is lost before the command has ended by it.
// SIGHUP and those of a terminal's jobs do not.
func signalsAreRemembered(t testing.TB) {
	lost := errors.New("lost")
	for _, s := range passedOn {
		a := newAsked(t)
		a.again = true
		over := func(ctx context.Context, lost error, code cli.ExitCode) (bool, error) {
			a.stderr.Reset()
			return a.finish(ctx, lost, code)
		}
		end, err := over(t.Context(), lost, 0)
		require.False(t, end)
		require.NoError(t, err)
		require.Contains(t, a.stderr.String(), "lost; waiting for the next lead")

		a.note(s)
		end, err = over(t.Context(), lost, 0)
		last := s == syscall.SIGINT || s == syscall.SIGQUIT || s == syscall.SIGTERM
		require.Equal(t, last, end, s)
		require.Contains(t, a.stderr.String(), "lock: lost")
		if last {
			require.Equal(t, &cli.ExitError{Code: signalCode(s)}, err)
			require.NotContains(t, a.stderr.String(), "waiting")
		}

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		end, err = over(ctx, lost, 0)
		require.True(t, end, "lock itself is ended")
		require.ErrorIs(t, err, lost)

		end, err = over(t.Context(), nil, 3)
		require.True(t, end)
		require.Equal(t, &cli.ExitError{Code: 3}, err, "the code is that of the command")
		a.again = false
		end, err = over(t.Context(), lost, 0)
		require.True(t, end)
		require.ErrorIs(t, err, lost)
	}
}

func TestASignalToEndIsRemembered(t *testing.T) { signalsAreRemembered(t) }

// A signal that lock was started to ignore, as by nohup, is for the command neither. To catch
// it would also keep the command from ignoring it.
func ignoredSignalsStayIgnored(t testing.TB) {
	signal.Ignore(syscall.SIGHUP)
	defer func() { // it is caught again, and then has its usual effect
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGHUP)
		signal.Stop(c)
		require.Equal(t, passedOn, heeded(passedOn...))
	}()
	_, stop := commandSignals()
	defer stop()
	require.True(t, signal.Ignored(syscall.SIGHUP))
	require.Equal(t, []os.Signal{syscall.SIGTERM, syscall.SIGUSR1}, heeded(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1))
	require.Equal(t, []os.Signal{syscall.SIGHUP}, heeded(syscall.SIGHUP), "none would stand for all")
}

func TestIgnoredSignalsStayIgnored(t *testing.T) { ignoredSignalsStayIgnored(t) }

// A lock that waits ends by the signals that end it, and by no others.
func TestSignalsOfALockThatWaits(t *testing.T) {
	for _, s := range passedOn {
		a := newAsked(t)
		a.left, a.g.timeout = 0, 200*time.Millisecond
		signals := make(chan os.Signal, 1)
		signals <- s
		a.signals = signals
		_, err := a.await(t.Context())
		exit, ended := errors.AsType[*cli.ExitError](err)
		require.Error(t, err)
		if !endsLock(s) {
			require.ErrorContains(t, err, "not in time", s)
		} else if ended { // or the time was over before
			require.Equal(t, signalCode(s), exit.Code)
		}
	}
}

// A guard that cannot say that it kills, because lock is gone, kills all the same.
func TestAGuardThatNobodyHearsKills(t *testing.T) {
	job := exec.Command("sleep", "200")
	job.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := job.Start(); err != nil {
		t.Skip("no program sleep: ", err)
	}
	t.Cleanup(func() {
		_ = job.Process.Kill()
		_ = job.Wait()
	})
	says, out, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, says.Close())
	guard := exec.Command("failaware", lockGuard, cli.Version(), "")
	guard.Stdout = out
	to, err := guard.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, guard.Start())
	t.Cleanup(func() {
		_ = guard.Process.Kill()
		_ = guard.Wait()
	})
	require.NoError(t, out.Close())
	_, err = to.Write(append(guardMessage{messageKillAt, 1}.bytes(), guardMessage{messageGroup, uint64(job.Process.Pid)}.bytes()...))
	require.NoError(t, err)
	var died *exec.ExitError
	require.ErrorAs(t, job.Wait(), &died)
	require.Equal(t, syscall.SIGKILL, died.Sys().(syscall.WaitStatus).Signal())
	require.NoError(t, to.Close())
	require.NoError(t, guard.Wait())
}

// What another build starts does nothing, and says what to do.
func TestAnotherBuildIsRefused(t *testing.T) {
	for _, args := range [][]string{{lockGuard}, {lockGuard, ""}, {lockGuard, "other", ""}, {lockGuard, cli.Version()},
		{lockExec}, {lockExec, "", "/bin/true", "true"}, {lockExec, "other", "", "/bin/true", "true"}, {lockExec, cli.Version(), "", "/bin/true"}} {
		code, out, said := invoke(args...)
		require.Equal(t, 1, code, args)
		require.Empty(t, out)
		require.Equal(t, "failaware: lock: the program was replaced by another build since lock has begun: restart the lock\n", said)
	}
}
