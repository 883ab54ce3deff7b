package engine

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/journal"
	"github.com/failaware/failaware/internal/journal/disktest"
	"github.com/failaware/failaware/internal/keep"
	"github.com/failaware/failaware/internal/replica"
)

// deeply calls f behind so many calls.
func deeply(calls int, f func()) int {
	if calls == 0 {
		f()
		return 0
	}
	return deeply(calls-1, f) + 1
}

// idle returns an engine without a group, whose calls a test performs.
func idle(t testing.TB) *Engine {
	e, err := New(replica.Config{}, nil, &words{}, nil, nil, nil)
	require.NoError(t, err)
	return e
}

// A call of the application is noticed behind any number of calls, and neither that of
// another engine nor another goroutine counts.
func TestInside(t *testing.T) { insideCalls(t) }

func insideCalls(t testing.TB) {
	for _, depth := range []int{0, 30, 60, 64, 65, 500} {
		e, other := idle(t), idle(t)
		other.caller.Store(1 << 60)
		other.enter()
		var inside, elsewhere, beside bool
		e.beside = func(broadcast.Delivery) {
			deeply(depth, func() { inside, elsewhere = e.Inside(), other.Inside() })
			done := make(chan bool)
			go func() { done <- e.Inside() }()
			beside = <-done
		}
		e.calls.put(call{Effect: replica.Effect{Kind: replica.Beside}})
		e.calls.put(call{Effect: replica.Effect{Kind: replica.Withdraw, Event: &replica.Event{}}}) // ends it
		require.ErrorIs(t, e.perform(context.Background()), ErrMixed)
		require.True(t, inside, "depth %d", depth)
		require.False(t, elsewhere, "depth %d: another engine's", depth)
		require.False(t, beside, "depth %d: another goroutine", depth)
		require.False(t, e.Inside(), "nothing is called any more")
	}
}

// BenchmarkInside measures the question of a caller outside, behind 30 calls, while the
// application is being called.
func BenchmarkInside(b *testing.B) {
	e := idle(b)
	e.caller.Store(1 << 60)
	e.enter()
	deeply(30, func() {
		for b.Loop() {
			if e.Inside() {
				b.Fatal("not inside")
			}
		}
	})
}

// asking is an application that asks while it writes its state down.
type asking struct {
	*words
	ask func()
}

func (a *asking) Save(w io.Writer) error {
	a.ask()
	return a.words.Save(w)
}

// insideDisks has an application write its state down for the disk of its node.
func insideDisks(t testing.TB) {
	app := &asking{words: &words{}}
	j, err := journal.OpenOn(disktest.New(), journal.Options{})
	require.NoError(t, err)
	s, err := newStore(j, app, keep.Options{})
	require.NoError(t, err)
	e, err := New(replica.Config{}, nil, app, s, nil, nil)
	require.NoError(t, err)
	asked, inside := 0, false
	app.ask = func() { asked, inside = asked+1, e.Inside() }
	e.calls.put(call{Effect: replica.Effect{Kind: replica.Locate}})
	e.calls.put(call{Effect: replica.Effect{Kind: replica.Locate, Place: placeOf(1)}})
	e.calls.put(call{Effect: replica.Effect{Kind: replica.Withdraw, Event: &replica.Event{}}}) // ends it
	require.ErrorIs(t, e.perform(context.Background()), ErrMixed)
	require.Equal(t, 1, asked)
	require.True(t, inside, "a call that waits for later ones would wait for ever")
	require.False(t, e.Inside())
	require.NoError(t, s.Close())
}

// A snapshot for the disk is a call of the application like one for another member.
func TestASnapshotForTheDiskIsACall(t *testing.T) { insideDisks(t) }
