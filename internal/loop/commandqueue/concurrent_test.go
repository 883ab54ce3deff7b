package commandqueue

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// pendingIsTrue has commands come while the loop takes others, and looks at the queue between
// any two calls. Commands that wait are pending: until another came, nobody would take them.
func pendingIsTrue(t testing.TB) {
	var q Queue[int]
	var over atomic.Bool
	var callers sync.WaitGroup
	callers.Go(func() {
		for !over.Load() {
			q.Put(1)
			q.Withdraw(1)
			q.Put(1)
		}
	})
	callers.Go(func() {
		for !over.Load() {
			q.Take()
		}
	})
	wrong := 0
	for range 500_000 {
		q.mu.Lock()
		if q.pending.Load() != (len(q.commands) > 0) {
			wrong++
		}
		q.mu.Unlock()
	}
	over.Store(true)
	callers.Wait()
	require.Zero(t, wrong, "looks at a queue that says nothing true of its commands")
}

func TestCommandsThatWaitArePending(t *testing.T) { pendingIsTrue(t) }
