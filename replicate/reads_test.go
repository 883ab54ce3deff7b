package replicate_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
)

// unread reads at a lone node, where messages come back before their callers know their
// ids, until a number of reads is done, or some have returned without reading. It returns
// how many those are.
func unread(t testing.TB, reads int64) int64 {
	net := memory.New(memory.Options{Seed: 1})
	h := start(t, failaware.Config{ID: 1, Transport: net.Transport(), Broadcast: &failaware.BroadcastConfig{}}, replicate.Config{}, &words{})
	for !h.Progress().Accepting {
		time.Sleep(time.Millisecond)
	}
	var readers sync.WaitGroup
	var done, missed atomic.Int64
	for range 8 {
		readers.Go(func() {
			for done.Add(1) <= reads && missed.Load() == 0 {
				read := false
				if _, err := h.ReadLatest(t.Context(), func() { read = true }); err == nil && !read {
					missed.Add(1)
				}
			}
		})
	}
	readers.Wait()
	return missed.Load()
}

func TestReadLatestReads(t *testing.T) { require.Zero(t, unread(t, 5000)) }

// A read that is given up while its outcome is just being given takes the outcome along: the
// next call must not find it.
func TestAReadThatIsGivenUpLeavesNoOutcome(t *testing.T) {
	net := memory.New(memory.Options{Seed: 1})
	h := start(t, failaware.Config{ID: 1, Transport: net.Transport(), Broadcast: &failaware.BroadcastConfig{}}, replicate.Config{}, &words{})
	for i := range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		_, _ = h.ReadLatest(ctx, func() {
			cancel()
			for range 100 { // the caller has heard of it by then, and waits for the end of this
				runtime.Gosched()
			}
		})
		cancel()
		a, err := h.Submit(within(t, time.Minute), fmt.Append(nil, i))
		require.NoError(t, err)
		require.Equal(t, i+1, a.Result)
	}
}
