package main

import (
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/timed"
)

// played is a watch in simulated time. Its child is gone, so that nothing is killed, and
// its guard is a pipe.
type played struct {
	*watch
	now  timed.Instant
	told *os.File
}

func play(t testing.TB, margin, termBefore time.Duration, until timed.Instant) *played {
	from, to, err := os.Pipe()
	require.NoError(t, err)
	p := &played{now: 1, told: from}
	clock := hwclock.Of(func() int64 { return int64(p.now) })
	p.watch = &watch{l: &locking{clock: clock, args: []string{"job"}, node: 7, termBefore: termBefore, timing: lockTiming{margin: margin}},
		child: &child{guard: &guard{to: to}, gone: true}, held: &api.Held{Hold: api.Hold{Boot: "b"}, Until: until}}
	return p
}

// guardTold ends the pipe and returns what the guard was told last.
func (p *played) guardTold(t testing.TB) (last timed.Instant) {
	require.NoError(t, p.child.guard.to.Close())
	b, err := io.ReadAll(p.told)
	require.NoError(t, err)
	require.NoError(t, p.told.Close())
	if len(b) > 0 {
		last = timed.Instant(binary.BigEndian.Uint64(b[len(b)-8:]))
	}
	return last
}

// answer has an answer come: a refusal, a hold that may be longer, or none.
func (p *played) answer(r *rand.Rand) (refused, renewed bool) {
	switch r.IntN(24) {
	case 0:
		p.take(renewal{err: &api.StatusError{Code: http.StatusConflict}})
		return true, false
	case 1, 2, 3, 4, 5, 6, 7:
		p.take(renewal{err: os.ErrDeadlineExceeded})
		return false, false
	}
	held := *p.held
	held.Until = p.now + timed.Instant(r.IntN(200))
	renewed = held.Until > p.held.Until
	p.take(renewal{held: &held})
	return false, renewed
}

// holdsBound plays lives of a watch, with renewals, silence and refusals, in which it looks
// when it has asked to. A command is killed no later than a margin before its hold ends,
// and gets SIGTERM as long before as it is to, unless the lead is lost by an answer.
func holdsBound(t testing.TB) {
	const margin = 20
	seen := map[string]int{}
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		termBefore := time.Duration(r.IntN(2) * r.IntN(60))
		p := play(t, margin, termBefore, 200)
		next := p.now.Add(time.Duration(r.IntN(60)))
		renewed, refused, term := false, false, timed.Never
		longest := p.held.Until
		for !p.killed {
			wait := p.step()
			if p.killBy != 0 && term == timed.Never {
				term = p.now
			}
			if p.killed {
				break
			}
			due := p.now.Add(wait)
			require.Greater(t, due, p.now, seed)
			require.LessOrEqual(t, due, p.held.Until-margin, "seed %d: it sleeps longer than the command may run", seed)
			if due <= next {
				p.now = due
				continue
			}
			p.now, next = next, next.Add(time.Duration(1+r.IntN(60)))
			no, yes := p.answer(r)
			require.GreaterOrEqual(t, p.held.Until, longest, "seed %d: a renewal shortens a hold", seed)
			longest = p.held.Until
			refused, renewed = refused || no, renewed || yes
			require.False(t, no && p.lost == nil, seed)
		}
		end := p.held.Until - margin
		require.LessOrEqual(t, p.now, end, seed)
		switch {
		case refused && termBefore == 0:
			seen["refused"]++
		case refused:
			require.LessOrEqual(t, p.now.Sub(term), termBefore, seed)
			seen["refused, with SIGTERM"]++
		case termBefore == 0:
			require.Equal(t, end, p.now, seed)
			require.Equal(t, timed.Never, term, seed)
			seen["expired"]++
		default:
			require.Equal(t, termBefore, p.now.Sub(term), seed)
			seen["expired, with SIGTERM"]++
		}
		if told := p.guardTold(t); renewed {
			require.Greater(t, told, end, "seed %d: the guard comes first", seed)
			require.Less(t, told, p.held.Until, "seed %d: the guard has no time", seed)
			seen["renewed"]++
		}
	}
	for _, what := range []string{"refused", "refused, with SIGTERM", "expired", "expired, with SIGTERM", "renewed"} {
		require.Greater(t, seen[what], 50, what)
	}
}

func TestACommandRunsNoLongerThanItsHold(t *testing.T) { holdsBound(t) }

// A watch that looks late, since its process did not run, kills at once, whatever it has
// promised the command.
func lateLooksKill(t testing.TB) {
	for _, termBefore := range []time.Duration{0, 50} {
		for _, late := range []timed.Instant{180, 190, 200, 1000} {
			p := play(t, 20, termBefore, 200)
			p.step()
			if termBefore > 0 {
				p.now = 130 // when SIGTERM is due
				p.step()
				require.NotZero(t, p.killBy)
				require.False(t, p.killed)
			}
			p.now = late
			p.step()
			require.True(t, p.killed, late)
			p.guardTold(t)
		}
	}
}

// SIGTERM that leaves late is followed by SIGKILL in time all the same.
func lateTermsAreCutShort(t testing.TB) {
	p := play(t, 20, 50, 200)
	for _, now := range []timed.Instant{150, 160, 179} { // SIGTERM was due at 130
		p.now = now
		require.Equal(t, timed.Instant(180), p.now.Add(p.step()))
		require.False(t, p.killed)
	}
	p.now = 180
	p.step()
	require.True(t, p.killed)
	p.guardTold(t)
}

func TestALateSIGTERMIsCutShort(t *testing.T) { lateTermsAreCutShort(t) }

func TestALateLookKillsAtOnce(t *testing.T) { lateLooksKill(t) }

// A sleep of the machine is reported as such, even if the clock does not show it.
func sleepsAreReported(t testing.TB) {
	p := play(t, 20, 0, 200)
	require.ErrorContains(t, p.outcome(hwclock.Reading{Now: 100, Era: 1}, 0), "the machine slept")
	p.guardTold(t)
}

func TestASleepOfTheMachineIsReported(t *testing.T) { sleepsAreReported(t) }
