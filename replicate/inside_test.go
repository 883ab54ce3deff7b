package replicate_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
)

// inward is an application whose Apply calls its replica.
type inward struct {
	words
	within func()
}

func (i *inward) Apply(op replicate.Operation) any {
	i.within()
	return i.words.Apply(op)
}

func alone(t *testing.T, app replicate.Application) *replicate.Replica {
	r := lone(t, app, replicate.Config{})
	time.Sleep(r.Node().Bounds().Ready + r.Node().Bounds().View)
	return r
}

// lone returns the replica of a node that begins.
func lone(t *testing.T, app replicate.Application, cfg replicate.Config) *replicate.Replica {
	net := memory.New(memory.Options{Seed: 1})
	n, err := failaware.Start(t.Context(), failaware.Config{ID: 1, Transport: net.Transport(), Broadcast: &failaware.BroadcastConfig{}})
	require.NoError(t, err)
	r, err := replicate.Start(n, app, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// What an application calls within its own calls must not wait for the next one.
func TestCallsFromWithinTheApplicationEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *replicate.Replica
		app := &inward{}
		var submit, latest error
		reads := 0
		app.within = func() {
			_, submit = r.Submit(t.Context(), []byte("inner"))
			_, latest = r.ReadLatest(t.Context(), func() {})
			r.Read(func() { r.Read(func() { reads++ }) })
		}
		r = alone(t, app)
		_, err := r.Submit(t.Context(), []byte("outer"))
		require.NoError(t, err)
		require.ErrorIs(t, submit, replicate.ErrInside)
		require.ErrorIs(t, latest, replicate.ErrInside)
		require.Equal(t, 1, reads)
		_, err = r.ReadLatest(t.Context(), func() { _, submit = r.Submit(t.Context(), []byte("inner")) })
		require.NoError(t, err)
		require.ErrorIs(t, submit, replicate.ErrInside)

		var closed error
		app.within = func() { closed = r.Close() }
		_, err = r.Submit(t.Context(), []byte("last"))
		<-r.Done()
		require.ErrorIs(t, closed, replicate.ErrInside)
		if err != nil {
			require.ErrorIs(t, err, failaware.ErrOutcomeUnknown)
		}
		<-r.Node().Done()
	})
}

// withinEvents calls everything in OnEvent that waits for the replica, in an event of the state or in one
// that tells that the application hangs. It returns what did not say ErrInside.
func withinEvents(t *testing.T, hanging bool) (waited []string) {
	synctest.Test(t, func(t *testing.T) {
		var r *replicate.Replica
		app, gate, started, over := &inward{}, make(chan struct{}), make(chan struct{}), make(chan struct{})
		app.within = func() {
			if hanging {
				<-gate
			}
		}
		called, read := 0, false
		told := func(e replicate.Event) {
			if _, hangs := e.(replicate.Hanging); hangs != hanging || called > 0 {
				return
			}
			<-started
			if !hanging {
				r.Read(func() { read = true })
			}
			calls := callsOf(r)
			delete(calls, "SubmitWith") // refuses its options
			calls["Close"] = func(context.Context) error {
				if len(waited) > 0 { // it would wait for ever
					return nil
				}
				return r.Close()
			}
			for _, name := range slices.Sorted(maps.Keys(calls)) {
				called++
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				if !errors.Is(calls[name](ctx), replicate.ErrInside) {
					waited = append(waited, name)
				}
				cancel()
			}
			close(over)
		}
		r = lone(t, app, replicate.Config{OnEvent: told})
		close(started)
		go func() { _, _ = r.Submit(t.Context(), []byte("may hang")) }()
		<-over
		close(gate)
		if len(waited) == 0 {
			<-r.Done()
		}
		require.NoError(t, r.Close())
		require.Equal(t, len(callsOf(r)), called)
		require.Equal(t, !hanging, read)
		require.NoError(t, r.Err())
	})
	return waited
}

// What OnEvent calls must not wait for the replica, which waits for it.
func TestCallsFromWithinAnEventEnd(t *testing.T) {
	require.Empty(t, withinEvents(t, false))
	require.Empty(t, withinEvents(t, true))
}

// The owner of an application may use it again once Close has returned.
func TestCloseWaitsForTheApplication(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate, closed := make(chan struct{}), make(chan error, 1)
		r := alone(t, &inward{within: func() { <-gate }})
		go func() { _, _ = r.Submit(t.Context(), []byte("waits")) }()
		synctest.Wait()
		go func() { closed <- r.Close() }()
		time.Sleep(time.Minute)
		require.Empty(t, closed)
		close(gate)
		require.NoError(t, <-closed)
	})
}

// A read within a read does not wait for the operation that waits for the first.
func TestReadsNest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app := &words{}
		r := alone(t, app)
		done := make(chan error)
		nested := false
		r.Read(func() {
			go func() {
				_, err := r.Submit(t.Context(), []byte("waits"))
				done <- err
			}()
			time.Sleep(time.Second) // now it waits for this read
			r.Read(func() { nested = len(app.list) == 0 })
		})
		require.True(t, nested)
		require.NoError(t, <-done)
	})
}
