package loop

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/seal"
	"github.com/failaware/failaware/timed"
)

// waits are the calls that wait for the loop.
var waits = map[string]func(context.Context, *Loop){
	"Resign":        func(ctx context.Context, l *Loop) { _ = l.Resign(ctx, 2) },
	"Hold":          func(ctx context.Context, l *Loop) { _, _ = l.Hold(ctx, false) },
	"Verify":        func(ctx context.Context, l *Loop) { _, _ = l.Verify(ctx, 1, 1) },
	"NamedLeader":   func(ctx context.Context, l *Loop) { _, _ = l.NamedLeader(ctx, 1, true) },
	"ProposeQuorum": func(ctx context.Context, l *Loop) { _ = l.ProposeQuorum(ctx, 0, "1") },
	"ForceQuorum":   func(ctx context.Context, l *Loop) { _ = l.ForceQuorum(ctx, "1", timed.Set{}) },
	"TakeRing":      func(ctx context.Context, l *Loop) { _ = l.TakeRing(ctx, (*seal.Ring)(nil)) },
	"Status":        func(_ context.Context, l *Loop) { _ = l.Status() },
	"References":    func(_ context.Context, l *Loop) { _ = l.References() },
	"inLoop": func(ctx context.Context, l *Loop) {
		later, cancel := context.WithCancel(context.WithoutCancel(ctx))
		go func() {
			_, _ = inLoop(later, l, func(_ *driver, reply func(int)) {
				cancel() // the loop has come to the call
				synctest.Wait()
				reply(1)
			})
		}()
		synctest.Wait()
	},
}

// heldUp has a caller give up, and the loop do what it was asked for only then. It returns the
// calls whose answers the loop waits to get rid of: meanwhile it would renew no lease.
func heldUp(t *testing.T) (calls []string) {
	for name, call := range waits {
		returned := false
		func() {
			defer func() { _ = recover() }() // nothing in the bubble goes on
			synctest.Test(t, func(t *testing.T) {
				l, _ := newTestLoop(t)
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				call(ctx, l)
				l.driver.turn(nil, l.cfg.Clock.Read())
				returned = true
			})
		}()
		if !returned {
			calls = append(calls, name)
		}
	}
	slices.Sort(calls)
	return calls
}

func TestACallerThatGivesUpHoldsNobodyUp(t *testing.T) { require.Empty(t, heldUp(t)) }
