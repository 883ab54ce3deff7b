package replicate_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
)

// floods is a group of which one member gets the state, while callers at all others
// broadcast messages without an order, beside the operations, as fast as they can.
type floods struct {
	callers, size int  // of each node, and of each of their messages, in bytes
	state, chunk  int  // bytes of the snapshot, and of a piece of it
	leaves        bool // a member leaves meanwhile
}

// fairness is what came of it.
type fairness struct {
	share  float64       // of the transfer, in what its source sent without an order
	submit time.Duration // the longest wait for an operation meanwhile
}

func (f floods) play(t *testing.T) (got fairness) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{Seed: 7, MinDelay: time.Millisecond, MaxDelay: time.Millisecond, Buffer: 1 << 13})
		cast := failaware.BroadcastConfig{RequireQuorum: true, PacketBytes: 32 << 10, Window: 256 << 10}
		var sent [6]atomic.Int64 // bytes that came at the joiner, by sender
		cfg := replicate.Config{ChunkBytes: f.chunk, Window: f.state}
		begin := func(id int) (*replicate.Replica, *pages) {
			p, c := newPages(f.state), cfg
			if id == 5 {
				c.OnMessage = func(m replicate.Message) {
					sent[m.ID.Sender].Add(int64(len(m.Payload)))
				}
			}
			return startPages(t, failaware.Config{ID: failaware.NodeID(id), Transport: net.Transport(), Broadcast: &cast, Quorum: majority(t, 5)}, c, p), p
		}
		all := make([]*replicate.Replica, 5)
		for i := range all {
			all[i], _ = begin(i + 1)
		}
		meet(all[0].Node())
		_, err := all[0].Submit(t.Context(), make([]byte, 4))
		require.NoError(t, err)
		require.NoError(t, all[4].Close()) // it comes again without a state

		joiner, p := begin(5)
		for joiner.Progress().Bytes == 0 {
			time.Sleep(time.Millisecond)
		}
		ctx, cancel := context.WithCancel(t.Context())
		for _, r := range all[:4] {
			f.flood(ctx, r)
		}
		from := joiner.Progress().From
		for left := false; p.restored.Load() == 0; {
			at := time.Now()
			_, err := all[from-1].Submit(within(t, time.Minute), make([]byte, 4))
			require.NoError(t, err)
			got.submit = max(got.submit, time.Since(at))
			if f.leaves && !left && joiner.Progress().Bytes > uint64(f.state)/4 {
				left = true
				go func() { _ = all[from%4].Close() }()
			}
		}
		got.share = float64(f.state) / float64(int64(f.state)+sent[from].Load())
		cancel()
	})
	return got
}

// flood has callers broadcast until ctx ends.
func (f floods) flood(ctx context.Context, r *replicate.Replica) {
	for range f.callers {
		go func() {
			for err := error(nil); err == nil; {
				_, err = r.Broadcast(ctx, make([]byte, f.size), failaware.BroadcastOptions{Order: failaware.Unordered, Atomicity: failaware.WeakAtomicity})
			}
		}()
	}
}

// Callers at all nodes share with a transfer. Its source gives it its part, however many they are.
var (
	crowded = floods{callers: 16, size: 32 << 10, state: 1 << 20, chunk: 16 << 10}
	leaving = floods{callers: 16, size: 32 << 10, state: 3 << 20, chunk: 16 << 10, leaves: true}
	lonely  = floods{callers: 1, size: 1000, state: 1 << 20, chunk: 128 << 10}
)

const (
	leastShare = 0.18 // of a transfer: its weight is a quarter
	mostShare  = 0.3
	mostWait   = 400 * time.Millisecond // of an operation, over a view change
)

func TestTransfersAndMessagesShareByWeights(t *testing.T) {
	got := crowded.play(t)
	require.GreaterOrEqual(t, got.share, leastShare)
	require.Less(t, got.submit, mostWait)
	require.Less(t, lonely.play(t).share, mostShare, "nor does it take what a single caller needs")
}

// Members report to a view, and operations go on, although pieces of a snapshot wait for room.
func TestATransferHoldsUpNoView(t *testing.T) {
	require.Less(t, leaving.play(t).submit, mostWait)
}
