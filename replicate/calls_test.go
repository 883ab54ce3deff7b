package replicate_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
)

// call is one of a replica's methods that take a context.
type call func(context.Context) error

// callsOf returns calls of a replica, which wait as long as its view has no quorum.
func callsOf(r *replicate.Replica) map[string]call {
	return map[string]call{
		"Bootstrap": r.Bootstrap,
		"Submit":    func(ctx context.Context) error { _, err := r.Submit(ctx, nil); return err },
		"SubmitWith": func(ctx context.Context) error {
			_, err := r.SubmitWith(ctx, nil, failaware.BroadcastOptions{})
			return err
		},
		"ReadLatest":  func(ctx context.Context) error { _, err := r.ReadLatest(ctx, func() {}); return err },
		"ReadLeased":  func(ctx context.Context) error { _, err := r.ReadLeased(ctx, func() {}); return err },
		"OpenSession": func(ctx context.Context) error { _, err := r.OpenSession(ctx); return err },
		"Session.Submit": func(ctx context.Context) error {
			_, err := r.Session(replicate.SessionID{Sender: 1}).Submit(ctx, 1, nil)
			return err
		},
		"Session.Close": func(ctx context.Context) error { return r.Session(replicate.SessionID{Sender: 1}).Close(ctx) },
	}
}

// otherCallsOf returns the calls that such a replica answers at once.
func otherCallsOf(r *replicate.Replica) map[string]call {
	return map[string]call{
		"Broadcast": func(ctx context.Context) error {
			_, err := r.Broadcast(ctx, nil, failaware.BroadcastOptions{Order: failaware.Unordered})
			return err
		},
		"BroadcastAndWait": func(ctx context.Context) error {
			_, err := r.BroadcastAndWait(ctx, nil, failaware.BroadcastOptions{Order: failaware.Unordered})
			return err
		},
	}
}

// A method that takes a context is in one of the tables.
func TestTheTablesHaveAllCalls(t *testing.T) {
	inTables := func(of reflect.Type, prefix string) {
		for m := range of.Methods() {
			if m.Type.NumIn() < 2 || m.Type.In(1) != reflect.TypeFor[context.Context]() {
				continue
			}
			name := prefix + m.Name
			require.True(t, callsOf(nil)[name] != nil || otherCallsOf(&replicate.Replica{})[name] != nil, name)
		}
	}
	inTables(reflect.TypeFor[*replicate.Replica](), "")
	inTables(reflect.TypeFor[*replicate.Session](), "Session.")
}

// startWithoutQuorum starts a replica whose quorum is elsewhere.
func startWithoutQuorum(t *testing.T) *replicate.Replica {
	net := memory.New(memory.Options{})
	n, err := failaware.Start(t.Context(), failaware.Config{ID: 1, Transport: net.Transport(), Timing: failaware.Local(), Quorum: majorityOf(t, 1, 2, 3),
		Broadcast: &failaware.BroadcastConfig{RequireQuorum: true}})
	require.NoError(t, err)
	r, err := replicate.Start(n, &words{}, replicate.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	_, err = n.WaitLeader(t.Context())
	require.NoError(t, err)
	return r
}

// Whatever waits says why its context has ended.
func TestCallsSayWhyTheirContextEnded(t *testing.T) {
	r := startWithoutQuorum(t)
	cause := errors.New("the user has left")
	for name, call := range callsOf(r) {
		ctx, cancel := context.WithCancelCause(t.Context())
		result := make(chan error, 1)
		go func() { result <- call(ctx) }()
		time.Sleep(10 * time.Millisecond) // it waits by then, or ends as if it had
		cancel(cause)
		err := <-result
		require.ErrorIs(t, err, cause, name)
		require.ErrorIs(t, err, replicate.ErrNotAccepting, name)
	}
}

// Whatever waits ends with the replica, and says so, as every later call does.
func TestCallsEndWithTheReplica(t *testing.T) {
	r := startWithoutQuorum(t)
	results := make(map[string]chan error)
	for name, call := range callsOf(r) {
		result := make(chan error, 1)
		results[name] = result
		go func() { result <- call(t.Context()) }()
	}
	time.Sleep(10 * time.Millisecond) // they wait by then, or end as if they had
	require.NoError(t, r.Close())
	for name, result := range results {
		require.ErrorIs(t, <-result, failaware.ErrClosed, name)
	}
	for _, table := range []map[string]call{callsOf(r), otherCallsOf(r)} {
		for name, call := range table {
			require.ErrorIs(t, call(t.Context()), failaware.ErrClosed, name)
		}
	}
}

// A read without a function fails in the caller, where its mistake is, and sends nothing.
func TestAReadOfNothingPanicsInTheCaller(t *testing.T) {
	r := startWithoutQuorum(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Panics(t, func() { _, _ = r.ReadLatest(ctx, nil) })
	require.Panics(t, func() { _, _ = r.ReadLeased(ctx, nil) })
}
