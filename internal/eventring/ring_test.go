package eventring

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// follow returns the events after a sequence number, and the number of missed ones.
// between is called with the number of each event.
func follow(ctx context.Context, r *Ring[uint64], seq uint64, between func(uint64)) (got []uint64, missed uint64) {
	for r.Wait(ctx, seq) {
		e, s, m, ok := r.After(seq)
		if !ok {
			panic("Wait said that there is something")
		}
		if seq = s; m == 0 {
			got = append(got, e)
		}
		missed += m
		if between != nil {
			between(s)
		}
	}
	return got, missed
}

func add(r *Ring[uint64], n int) {
	for range n {
		r.Add(r.Last() + 1)
	}
}

func TestASlowConsumerMissesTheOldest(t *testing.T) {
	r := New[uint64](4)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	add(r, 1)
	got, missed := follow(ctx, r, 0, func(seq uint64) {
		switch seq {
		case 1:
			add(r, 9) // 2 to 10: four are kept
		case 10:
			cancel()
		}
	})
	require.Equal(t, []uint64{1, 7, 8, 9, 10}, got)
	require.Equal(t, uint64(5), missed)
}

func TestConsumersResumeBySequence(t *testing.T) {
	r := New[uint64](8)
	add(r, 5)
	r.Close()
	for seq, want := range map[uint64]int{0: 5, 3: 2, 5: 0, 99: 0} {
		got, _ := follow(t.Context(), r, seq, nil)
		require.Len(t, got, want)
	}
}

// Consumers come and go while events are added. Each gets every event in order, or the
// number of missed events.
func TestConsumersLoseNothingUnnoticed(t *testing.T) {
	r := New[uint64](16)
	const events = 5000
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			got, missed := follow(t.Context(), r, 0, nil)
			if n := uint64(len(got)) + missed; n != events {
				t.Errorf("%d events instead of %d", n, events)
			}
			for i := 1; i < len(got); i++ {
				if got[i] <= got[i-1] {
					t.Errorf("event %d after %d", got[i], got[i-1])
				}
			}
		})
	}
	add(r, events)
	r.Close()
	wg.Wait()
}
