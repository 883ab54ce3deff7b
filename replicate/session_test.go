package replicate_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
)

func openSession(t testing.TB, h *holder) *replicate.Session {
	t.Helper()
	s, err := h.OpenSession(within(t, time.Minute))
	require.NoError(t, err)
	return s
}

// once submits a word in a session, and requires the result that the first attempt had.
func once(t testing.TB, s *replicate.Session, number uint64, word string, result any, repeated bool) {
	t.Helper()
	a, err := s.Submit(within(t, time.Minute), number, []byte(word))
	require.NoError(t, err)
	require.Equal(t, result, a.Result)
	require.Equal(t, repeated, a.Repeated)
}

func TestAnAttemptAtAnotherNodeGetsTheFirstResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{Seed: 21})
		cast := failaware.BroadcastConfig{RequireQuorum: true}
		all := inMemory(t, net, cast, replicate.Config{HashEvery: 1}, applications(3, 0)...)
		s := openSession(t, all[0])
		once(t, s, s.Next(), "one", 1, false)
		once(t, s, s.Next(), "two", 2, false)
		submit(t, all[1], "three")
		once(t, all[1].Session(s.ID()), 2, "two", 2, true)
		once(t, all[2].Session(s.ID()), 1, "one", 1, true)

		restart(t, net, cast, all, 0) // it gets the sessions with the state
		again := all[0].Session(s.ID())
		once(t, again, 2, "two", 2, true)
		once(t, again, again.Next(), "four", 4, false)
		require.Equal(t, []string{"one", "two", "three", "four"}, all[2].latest(t))
	})
}

// The caller stops waiting for an operation, which a quorum without its node may have.
func TestTheOutcomeThatWasUnknownComesWithAnotherAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net, dir := memory.New(memory.Options{Seed: 22}), t.TempDir()
		all := onDisks(t, net, dir, true, 1, 2, 3)
		s := openSession(t, all[2])
		net.Cut(1, 3)
		net.Cut(2, 3)
		_, err := s.Submit(within(t, time.Second), 1, []byte("apart"))
		require.ErrorIs(t, err, failaware.ErrOutcomeUnknown)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		closeAll(t, all)
		net.Heal()
		all = onDisks(t, net, dir, true, 1, 2, 3)
		for _, h := range all { // the first of them applies it, if nobody has
			_, err := h.Session(s.ID()).Submit(within(t, time.Minute), 1, []byte("apart"))
			require.NoError(t, err)
			require.Equal(t, []string{"apart"}, h.latest(t))
		}
		_, err = all[0].Session(s.ID()).Submit(within(t, time.Minute), 1, []byte("another"))
		require.ErrorIs(t, err, replicate.ErrSessionReused)
		closeAll(t, all)
	})
}

// Submit tries again by itself.
func TestASessionSubmitsUntilTheOutcomeIsKnown(t *testing.T) {
	require.NoError(t, submitThroughSplits(t))
}

// submitThroughSplits has a client submit at a node that is cut off again and again.
func submitThroughSplits(t *testing.T) (failed error) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{Seed: 23})
		all := inMemory(t, net, failaware.BroadcastConfig{RequireQuorum: true}, replicate.Config{}, applications(3, 0)...)
		s := openSession(t, all[0])
		done := make(chan error, 1)
		go func() {
			for number := uint64(1); number <= 200; number++ {
				a, err := s.Submit(context.Background(), number, []byte{byte(number)})
				if err == nil && !a.Lasting {
					err = errors.New("not lasting")
				}
				if err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
		for over := false; !over; {
			net.Cut(2, 1) // the others get what the first sends, which does not hear of it
			net.Cut(3, 1)
			time.Sleep(300 * time.Millisecond)
			net.Heal()
			select {
			case failed = <-done:
				over = true
			case <-time.After(200 * time.Millisecond):
			}
		}
		list := all[1].latest(t)
		require.True(t, failed != nil || len(list) == 200)
		require.True(t, slices.IsSortedFunc(list, func(x, y string) int { return int(x[0]) - int(y[0]) }))
	})
	return failed
}

// sessionAfterTransfer continues with a session at a node that got the state from others.
func sessionAfterTransfer(t *testing.T) (err error) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{Seed: 26})
		cast := failaware.BroadcastConfig{RequireQuorum: true}
		all := inMemory(t, net, cast, replicate.Config{}, applications(3, 0)...)
		s := openSession(t, all[0])
		restart(t, net, cast, all, 1)
		_, err = all[1].Session(s.ID()).Submit(within(t, time.Minute), 1, []byte("one"))
	})
	return err
}

func TestSessionsGoThroughATransfer(t *testing.T) { require.NoError(t, sessionAfterTransfer(t)) }

func TestSessionsGoThroughAMerge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{Seed: 24})
		all := inMemory(t, net, failaware.BroadcastConfig{}, replicate.Config{HashEvery: 1}, applications(4, 0)...)
		b := meet(all[0].Node())
		both := openSession(t, all[0])
		net.Partition([]failaware.NodeID{1, 2}, []failaware.NodeID{3, 4})
		time.Sleep(2 * b.View)
		right := openSession(t, all[3])
		once(t, both, 1, "left", 1, false)
		once(t, right, 1, "right", 1, false)
		net.Heal()
		time.Sleep(4 * b.View)
		for _, h := range all {
			once(t, h.Session(both.ID()), 1, "left", 1, true)
			once(t, h.Session(right.ID()), 1, "right", 1, true)
			require.Equal(t, []string{"left", "right"}, h.latest(t))
		}
	})
}

func TestAnExpiredSessionAppliesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := inMemory(t, memory.New(memory.Options{Seed: 25}), failaware.BroadcastConfig{}, replicate.Config{}, applications(2, 0)...)
		s := openSession(t, all[0])
		once(t, s, 30, "one", 1, false)
		for _, number := range []uint64{0, 30 - replicate.SessionWindow, math.MaxUint64} {
			_, err := s.Submit(within(t, time.Minute), number, []byte("two"))
			require.ErrorIs(t, err, replicate.ErrSessionNumber)
		}
		require.EqualValues(t, 31, s.Next())
		other := all[1].Session(s.ID())
		for range 2 {
			require.NoError(t, other.Close(within(t, time.Minute)))
		}
		_, err := s.Submit(within(t, time.Minute), 30, []byte("one"))
		require.ErrorIs(t, err, replicate.ErrSessionExpired)
		require.Equal(t, []string{"one"}, all[0].latest(t))
	})
}

func TestTheIDOfASessionIsAText(t *testing.T) {
	id := replicate.SessionID{Sender: 3, Boot: 0xc0ffee, Class: 1, Sequence: 12}
	b, err := json.Marshal(id)
	require.NoError(t, err)
	require.Equal(t, `"3/0000000000c0ffee/o12"`, string(b))
	var back replicate.SessionID
	require.NoError(t, json.Unmarshal(b, &back))
	require.Equal(t, id, back)
	require.Equal(t, "3/0000000000c0ffee/o12", id.String())
}
