package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/timed"
)

// latePipe is the pipe to a guard, in virtual time, on a machine so busy that the goroutine
// which hears it runs late, and the guard is held up after it has looked.
type latePipe struct {
	h      *inbox
	busy   *rand.Rand // of the guard
	waits  []byte
	heldUp time.Duration
}

// hear moves what waits to the guard.
func (p *latePipe) hear() {
	p.h.mu.Lock()
	defer p.h.mu.Unlock()
	p.h.add(p.waits, nil)
	p.waits = nil
}

// look is what the guard does before it decides.
func (p *latePipe) look() {
	p.hear()
	time.Sleep(time.Duration(p.busy.IntN(int(p.heldUp))))
}

// write writes a value, of which the goroutine hears after a delay.
func (p *latePipe) write(what byte, value uint64, delay time.Duration) {
	p.h.mu.Lock()
	p.waits = append(p.waits, guardMessage{what, value}.bytes()...)
	p.h.mu.Unlock()
	time.AfterFunc(delay, p.hear)
}

// guardsHearInTime plays lives of a guard that hears late, and runs late, of holds that lock
// renews. It kills nothing while a hold lasts of which it was told, and no later than it is
// held up after the end of the last one.
func guardsHearInTime(t *testing.T) {
	late := 0
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) {
			p := &latePipe{h: newInbox(), busy: rand.New(rand.NewPCG(seed, 8)), heldUp: 2 * time.Millisecond}
			r := rand.New(rand.NewPCG(seed, 7))
			p.h.readPipe = p.look
			clock := hwclock.Of(func() int64 { return time.Now().UnixNano() })
			end := time.Now().Add(time.Duration(1+r.IntN(100)) * time.Millisecond)
			var kills atomic.Int64
			done := make(chan error)
			go func() {
				done <- runGuard(p.h, new(discard), clock, func(int) { kills.Add(1) })
			}()
			p.write(messageKillAt, uint64(end.UnixNano()), 0)
			p.write(messageGroup, 80, 0)
			for time.Now().Before(end) && r.IntN(20) > 0 {
				time.Sleep(time.Duration(r.IntN(int(time.Until(end)) + 1)))
				if !time.Now().Before(end) {
					break
				}
				require.Zero(t, kills.Load(), "seed %d: the hold was renewed", seed)
				delay := time.Duration(r.IntN(200)) * time.Millisecond
				if delay > time.Until(end) {
					late++
				}
				end = end.Add(time.Duration(r.IntN(50)) * time.Millisecond)
				p.write(messageKillAt, uint64(end.UnixNano()), delay)
			}
			time.Sleep(time.Until(end) - 1)
			require.Zero(t, kills.Load(), "seed %d: the hold lasts", seed)
			time.Sleep(2*p.heldUp + 1)
			require.EqualValues(t, 1, kills.Load(), "seed %d: the hold is over", seed)
			p.h.mu.Lock()
			p.h.add(nil, os.ErrClosed)
			p.h.mu.Unlock()
			require.NoError(t, <-done)
			require.EqualValues(t, 2, kills.Load(), "lock is gone")
			time.Sleep(time.Second) // for what is still to be heard
		})
	}
	require.Greater(t, late, 300, "renewals that were heard too late")
}

// discard is an output to which nobody listens.
type discard struct{}

func (*discard) Write(b []byte) (int, error) { return len(b), nil }

func TestAGuardThatRunsLateHearsWhatWaits(t *testing.T) { guardsHearInTime(t) }

// All that waits in the pipe of a process counts, not only the first of it.
func guardsReadThePipe(t testing.TB) {
	if runtime.GOOS == "windows" {
		t.Skip("pipes wait there")
	}
	from, to, err := os.Pipe()
	require.NoError(t, err)
	_ = from.Fd() // makes it wait, as the standard input of a process does
	clock := hwclock.Of(func() int64 { return int64(time.Hour) })
	g := &guard{to: to}
	writeNow(to, guardMessage{messageGroup, 81}.bytes())
	for until := timed.Instant(time.Hour) - 3000; until <= timed.Instant(time.Hour)+1; until++ {
		g.until(until)
	}
	h := openInbox(from)
	news, gone := h.take()
	require.False(t, gone)
	require.Len(t, news, 3003)
	require.Equal(t, guardMessage{messageKillAt, uint64(time.Hour) + 1}, news[3002])
	news, gone = h.take()
	require.False(t, gone)
	require.Empty(t, news)

	g.until(timed.Never)
	require.NoError(t, to.Close())
	for !gone {
		<-h.ready
		var more []guardMessage
		more, gone = h.take()
		news = append(news, more...)
	}
	require.Equal(t, []guardMessage{{messageKillAt, uint64(timed.Never)}}, news)
	require.NoError(t, from.Close())
	require.NoError(t, runGuard(openInbox(from), new(discard), clock, func(int) { t.Error("a pipe that is closed") }))
}

func TestAGuardReadsAllThatWaits(t *testing.T) { guardsReadThePipe(t) }

// guardedBy runs a guard, of a command that may run until the instant 1000, that hears what
// look adds, and reports whether it has killed because of a hold's end. The guard is told at
// its second look that lock is gone.
func guardedBy(t testing.TB, now *int64, look func(h *inbox)) (killed bool) {
	h, looks := newInbox(), 0
	h.add(append(guardMessage{messageKillAt, 1000}.bytes(), guardMessage{messageGroup, 82}.bytes()...), nil)
	h.readPipe = func() {
		if looks++; looks == 1 {
			look(h)
			h.add(nil, nil) // it wakes again
			return
		}
		h.add(nil, os.ErrClosed)
	}
	var said bytes.Buffer
	require.NoError(t, runGuard(h, &said, hwclock.Of(func() int64 { return *now }), func(int) { h.add(nil, os.ErrClosed) }))
	return said.Len() > 0
}

// What a guard was told by its reading of the clock counts.
func guardsLookFirst(t testing.TB) {
	for now := int64(1002); now > 997; now-- {
		require.False(t, guardedBy(t, &now, func(h *inbox) { h.add(guardMessage{messageKillAt, 2000}.bytes(), nil) }), now)
		require.Equal(t, now >= 1000, guardedBy(t, &now, func(h *inbox) { h.add(guardMessage{messageKillAt, 1000}.bytes(), nil) }), now)
	}
}

// A guard that is held up when it has looked does not know what it was told since, so it
// does not know that the hold is over.
func guardsReadTheClockFirst(t testing.TB) {
	now := int64(999)
	require.False(t, guardedBy(t, &now, func(*inbox) { now = 1001 }))
}

func TestAGuardLooksBeforeItKills(t *testing.T) { guardsLookFirst(t) }

func TestAGuardReadsTheClockBeforeItLooks(t *testing.T) { guardsReadTheClockFirst(t) }
