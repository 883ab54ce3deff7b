package replicate_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
)

// Messages of a lone node come back before their callers know their ids. All reads that returned
// have read.
func TestReadLatestReads(t *testing.T) {
	net := memory.New(memory.Options{Seed: 1})
	h := start(t, failaware.Config{ID: 1, Transport: net.Transport(), Broadcast: &failaware.BroadcastConfig{}}, replicate.Config{}, &words{})
	for !h.Progress().Accepting {
		time.Sleep(time.Millisecond)
	}
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			for range 600 {
				read := false
				_, err := h.ReadLatest(t.Context(), func() { read = true })
				assert.NoError(t, err)
				assert.True(t, read)
			}
		})
	}
	readers.Wait()
}

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
