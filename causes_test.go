package failaware

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
)

// Whatever waits for a context says why the context has ended, at once and in the middle of
// its wait.
func TestCallsSayWhyTheirContextEnded(t *testing.T) {
	n := startNode(t, Config{ID: 1, Quorum: system(t, "majority:2,3"), Broadcast: &BroadcastConfig{}})
	waitElected(t, n)
	eventually(t, "a clock", func() bool { return n.Clock().Status != clocksync.Unsynchronized })
	later := n.Clock()
	later.Time += GroupTime(time.Hour)
	var into [1]Delivery
	drain := func(ctx context.Context) (err error) {
		for err == nil {
			_, err = n.Receive(ctx, into[:])
		}
		return err
	}
	waits := map[string]func(context.Context) error{
		"WaitGlobalLeader": func(ctx context.Context) error { _, err := n.WaitGlobalLeader(ctx); return err },
		"LeadGlobally":     func(ctx context.Context) error { _, _, err := n.LeadGlobally(ctx); return err },
		"Verify":           func(ctx context.Context) error { _, err := n.Verify(ctx, 2); return err },
		"FindGlobalLeader": func(ctx context.Context) error { _, err := n.FindGlobalLeader(ctx); return err },
		"CommitWait":       func(ctx context.Context) error { return n.CommitWait(ctx, later) },
		"Receive":          drain,
		"Deliveries": func(ctx context.Context) error {
			for _, err := range n.Deliveries(ctx) {
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	atOnce := map[string]func(context.Context) error{
		"WaitLeader":          func(ctx context.Context) error { _, err := n.WaitLeader(ctx); return err },
		"Lead":                func(ctx context.Context) error { _, _, err := n.Lead(ctx); return err },
		"LeaderContext":       func(ctx context.Context) error { _, _, err := n.LeaderContext(ctx); return err },
		"GlobalLeaderContext": func(ctx context.Context) error { _, _, err := n.GlobalLeaderContext(ctx); return err },
		"Broadcast": func(ctx context.Context) error {
			_, err := n.Broadcast(ctx, nil, BroadcastOptions{})
			return err
		},
	}
	cause := errors.New("the user has left")
	for name, call := range waits {
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
}
