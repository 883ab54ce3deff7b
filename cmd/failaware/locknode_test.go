package main

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/timed"
)

// asked is a node's API as lock asks it.
type asked struct {
	*locking
	stderr bytes.Buffer
	timing api.Timing
	fails  int           // the status of all answers, unless 0
	hang   bool          // requests for holds get no answer
	came   chan string   // the queries of the requests for holds
	left   time.Duration // of a hold, by the clock of lock
	resign int
}

func newAsked(t testing.TB) *asked {
	a := &asked{came: make(chan string, 100), left: 500}
	a.timing = api.Timing{SchedulingDelayNS: 10, ElectionPeriodNS: 100, LockTimeNS: 1000}
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, x any) {
		if a.fails != 0 {
			api.Fail(w, a.fails, os.ErrInvalid)
			return
		}
		api.Answer(w, http.StatusOK, x)
	}
	mux.HandleFunc("GET /v1/status", func(w http.ResponseWriter, _ *http.Request) { answer(w, api.Status{Node: 7, Timing: a.timing}) })
	mux.HandleFunc("POST /v1/leader/hold", func(w http.ResponseWriter, q *http.Request) {
		a.came <- q.URL.RawQuery
		if a.hang {
			<-q.Context().Done()
			return
		}
		answer(w, api.Hold{Node: 7, Boot: "b", ValidForNS: int64(a.left + 3*timed.Granule)})
	})
	mux.HandleFunc("POST /v1/resign", func(w http.ResponseWriter, _ *http.Request) {
		a.resign++
		answer(w, struct{}{})
	})
	cmd := &cobra.Command{}
	cmd.SetErr(&a.stderr)
	a.locking = &locking{g: &globals{}, cmd: cmd, client: api.NewClient(api.Address{Socket: serveAt(t, mux)}, ""),
		clock: hwclock.Of(func() int64 { return int64(time.Hour) })}
	return a
}

// A hold for which the command would have to be ended at once starts none, and the timing
// is that of the node that gives the hold, which may have been restarted with another one.
func firstHolds(t testing.TB) {
	a := newAsked(t)
	a.termBefore = 100
	a.timing.LockTimeNS = 10_000
	for left, enough := range map[time.Duration]bool{0: false, 110: false, 111: true, 500: true} {
		a.left = left
		h, err := a.firstHold(t.Context())
		require.NoError(t, err)
		require.Equal(t, enough, a.suffices(h), left)
	}
	a.left, a.timing.SchedulingDelayNS = 500, 300
	h, err := a.firstHold(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 300, a.locking.timing.margin)
	require.EqualValues(t, 500, h.Left())
	a.timing.LockTimeNS = 300
	_, err = a.firstHold(t.Context())
	require.ErrorContains(t, err, "is too long")
}

// A lock waits for a lead of which enough is left.
func TestALockWaitsForALongEnoughHold(t *testing.T) {
	a := newAsked(t)
	a.termBefore, a.timing.LockTimeNS, a.left, a.g.timeout = 100, 10_000, 110, time.Second
	_, err := a.await(t.Context())
	require.ErrorContains(t, err, "leads, but not for long enough")
}

func TestFirstHolds(t *testing.T) { firstHolds(t) }

// Lock waits for a node that does not lead, that has stopped, and that is not there yet.
func whatPasses(t testing.TB) {
	a := newAsked(t)
	for code, want := range map[int]bool{http.StatusConflict: true, http.StatusServiceUnavailable: true, http.StatusForbidden: false,
		http.StatusBadRequest: false, http.StatusInternalServerError: false} {
		a.fails = code
		_, err := a.firstHold(t.Context())
		require.Error(t, err)
		require.Equal(t, want, retryable(err), code)
		require.Equal(t, code == http.StatusConflict, refused(err), code)
	}
	a.client = api.NewClient(api.Address{Socket: filepath.Join(t.TempDir(), "none")}, "")
	_, err := a.firstHold(t.Context())
	require.True(t, retryable(err), err)
}

func TestWhatPasses(t *testing.T) { whatPasses(t) }

// Only --resign resigns, and a failure is told unless the lead is gone anyway.
func resigns(t testing.TB) {
	a := newAsked(t)
	a.handOver(t.Context())
	require.Zero(t, a.resign)
	a.locking.resign = true
	for code, told := range map[int]bool{0: false, http.StatusConflict: false, http.StatusForbidden: true} {
		a.fails = code
		a.stderr.Reset()
		a.handOver(t.Context())
		require.Equal(t, told, a.stderr.Len() > 0, code)
	}
	require.Equal(t, 3, a.resign)
}

func TestResigns(t *testing.T) { resigns(t) }

// Whatever comes of a command, it runs again only after a lost lead, with --again and before a
// signal to end, and the node resigns only if the command has ended by itself.
func overAsItWasAsked(t testing.TB) {
	lead := errors.New("the lead was lost")
	for i := range 16 {
		a := newAsked(t)
		a.again, a.locking.resign = i&1 > 0, i&2 > 0
		if i&4 > 0 {
			a.ending = syscall.SIGTERM
		}
		lost, want := lead, 0
		if i&8 > 0 {
			lost = nil
			if a.locking.resign {
				want = 1
			}
		}
		over, err := a.finish(t.Context(), lost, 3)
		require.Equal(t, lost == nil || !a.again || a.ending != nil, over, i)
		require.Equal(t, over, err != nil, i)
		require.Equal(t, want, a.resign, i)
	}
}

func TestALockIsOverAsItWasAsked(t *testing.T) { overAsItWasAsked(t) }

// Renewals are of the kind of lead of the first hold, and make no edicts. A request without
// an answer does not keep the next one from being made.
func renewals(t testing.TB) {
	a := newAsked(t)
	a.global, a.token, a.hang = true, "volume-7", true
	ctx, stop := context.WithCancel(t.Context())
	to, ended := make(chan renewal), make(chan struct{})
	go func() {
		defer close(ended)
		a.renew(ctx, lockTiming{renew: time.Millisecond, longer: 10 * time.Millisecond}, to)
	}()
	for range 3 {
		select {
		case r := <-to:
			require.Error(t, r.err)
		case <-time.After(time.Minute):
			require.Fail(t, "a request hangs")
		}
	}
	stop()
	<-ended
	require.Equal(t, "global=true", <-a.came)

	a = newAsked(t)
	ctx, stop = context.WithCancel(t.Context())
	defer stop()
	go a.renew(ctx, lockTiming{renew: time.Millisecond, longer: time.Minute, drift: 100_000_000}, to)
	r := <-to
	require.NoError(t, r.err)
	require.Less(t, r.held.Left(), a.left*95/100, "clocks may differ by a tenth")
}

func TestRenewals(t *testing.T) { renewals(t) }
