package failaware

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/seal"
)

// call is one of a node's methods that take a context.
type call func(context.Context) error

// callsThatWait returns calls that wait as long as the node is alone and its quorum elsewhere.
func callsThatWait(n *Node) map[string]call {
	later := n.Clock()
	later.Deviation = 0 // the clock may not be synchronized yet
	later.Time += GroupTime(time.Hour)
	return map[string]call{
		"WaitGlobalLeader": func(ctx context.Context) error { _, err := n.WaitGlobalLeader(ctx); return err },
		"LeadGlobally":     func(ctx context.Context) error { _, _, err := n.LeadGlobally(ctx); return err },
		"Verify":           func(ctx context.Context) error { _, err := n.Verify(ctx, 2); return err },
		"FindGlobalLeader": func(ctx context.Context) error { _, err := n.FindGlobalLeader(ctx); return err },
		"CommitWait":       func(ctx context.Context) error { return n.CommitWait(ctx, later) },
		"Receive": func(ctx context.Context) (err error) {
			var into [1]Delivery
			for err == nil {
				_, err = n.Receive(ctx, into[:])
			}
			return err
		},
		"Deliveries": func(ctx context.Context) error {
			for _, err := range n.Deliveries(ctx) {
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// otherCalls returns the calls that such a node answers at once.
func otherCalls(t testing.TB, n *Node) map[string]call {
	next := system(t, "majority:1,2,3")
	return map[string]call{
		"WaitLeader":          func(ctx context.Context) error { _, err := n.WaitLeader(ctx); return err },
		"FindLeader":          func(ctx context.Context) error { _, err := n.FindLeader(ctx); return err },
		"Lead":                func(ctx context.Context) error { _, _, err := n.Lead(ctx); return err },
		"LeaderContext":       func(ctx context.Context) error { _, _, err := n.LeaderContext(ctx); return err },
		"GlobalLeaderContext": func(ctx context.Context) error { _, _, err := n.GlobalLeaderContext(ctx); return err },
		"Hold":                func(ctx context.Context) error { _, err := n.Hold(ctx); return err },
		"HoldGlobally":        func(ctx context.Context) error { _, err := n.HoldGlobally(ctx); return err },
		"Resign":              n.Resign,
		"HandOver":            func(ctx context.Context) error { return n.HandOver(ctx, 2) },
		"ReloadKeys":          n.ReloadKeys,
		"ChangeQuorum":        func(ctx context.Context) error { return n.ChangeQuorum(ctx, next) },
		"ForceQuorum":         func(ctx context.Context) error { return n.ForceQuorum(ctx, next, Set{}) },
		"Broadcast": func(ctx context.Context) error {
			_, err := n.Broadcast(ctx, nil, BroadcastOptions{})
			return err
		},
		"BroadcastAndWait": func(ctx context.Context) error {
			_, err := n.BroadcastAndWait(ctx, nil, BroadcastOptions{})
			return err
		},
	}
}

// startLonely starts a node that leads alone, whose quorum is elsewhere.
func startLonely(t testing.TB) *Node {
	keys := filepath.Join(t.TempDir(), "keys")
	key := seal.NewKey()
	require.NoError(t, os.WriteFile(keys, []byte(key.Text()), 0o600))
	n := startNode(t, Config{ID: 1, Quorum: system(t, "majority:2,3"), StateDir: t.TempDir(), KeyFile: keys, Broadcast: &BroadcastConfig{}})
	waitElected(t, n)
	eventually(t, "a clock", func() bool { return n.Clock().Status != clocksync.Unsynchronized })
	return n
}

// A method that takes a context is in one of the tables.
func TestTheTablesHaveAllCalls(t *testing.T) {
	n := startLonely(t)
	waits, others := callsThatWait(n), otherCalls(t, n)
	for m := range reflect.TypeFor[*Node]().Methods() {
		if m.Type.NumIn() < 2 || m.Type.In(1) != reflect.TypeFor[context.Context]() {
			continue
		}
		switch m.Name {
		case "Events", "EventsSince", "Leave", "LeaveForGood": // which have no such error
			continue
		}
		require.True(t, waits[m.Name] != nil || others[m.Name] != nil, m.Name)
	}
}

// Whatever waits for a context says why the context has ended, at once and in the middle of
// its wait.
func TestCallsSayWhyTheirContextEnded(t *testing.T) {
	n := startLonely(t)
	cause := errors.New("the user has left")
	atOnce := otherCalls(t, n)
	for name, call := range callsThatWait(n) {
		ctx, cancel := context.WithCancelCause(t.Context())
		result := make(chan error, 1)
		go func() { result <- call(ctx) }()
		time.Sleep(10 * time.Millisecond) // it waits by then, or ends as if it had
		cancel(cause)
		require.ErrorIs(t, <-result, cause, name)
		atOnce[name] = call
	}
	for name, call := range atOnce {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		require.ErrorIs(t, call(ctx), cause, name)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	_, err := Start(ctx, Config{ID: 1})
	require.ErrorIs(t, err, cause)
}

// Whatever waits ends with the node, and says so, as every later call does.
func TestCallsEndWithTheNode(t *testing.T) {
	n := startLonely(t)
	calls := callsThatWait(n)
	delete(calls, "Receive") // there is one consumer of the deliveries
	results := make(map[string]chan error)
	for name, call := range calls {
		result := make(chan error, 1)
		results[name] = result
		go func() { result <- call(t.Context()) }()
	}
	time.Sleep(10 * time.Millisecond) // they wait by then, or end as if they had
	require.NoError(t, n.Close())
	for name, result := range results {
		require.ErrorIs(t, <-result, ErrClosed, name)
	}
	for _, table := range []map[string]call{callsThatWait(n), otherCalls(t, n)} {
		for name, call := range table {
			require.ErrorIs(t, call(t.Context()), ErrClosed, name)
		}
	}
	require.ErrorIs(t, n.SetPeers(nil), ErrClosed)
}
