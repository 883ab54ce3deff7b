package engine

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// A queue that is full is so until half of its limit is taken, and then says so.
func TestAQueueEases(t *testing.T) {
	q := newQueue(10, func(weight *int) int { return *weight })
	for range 11 {
		require.False(t, q.isFull())
		q.put(1)
	}
	for range 5 {
		_, err := q.take(t.Context())
		require.NoError(t, err)
		require.True(t, q.isFull())
		require.Empty(t, q.eased)
	}
	_, err := q.take(t.Context())
	require.NoError(t, err)
	require.False(t, q.isFull())
	require.Len(t, q.eased, 1)
}

// itemsStay puts and takes in turns of any length. Items come in order, and each stays as it is
// until the next is taken, whatever is put meanwhile. Then the queue has nothing left of it.
func itemsStay(t testing.TB) {
	q := newQueue[*int](0, nil)
	r := rand.New(rand.NewPCG(1, 5))
	put, took := 0, 0
	for range 2000 {
		for range r.IntN(4 * blockItems) {
			n := put
			q.put(&n)
			put++
		}
		for range r.IntN(8 * blockItems) {
			x := q.first()
			if x == nil {
				require.Equal(t, put, took)
				break
			}
			if r.IntN(4) == 0 {
				n := put
				q.put(&n)
				put++
			}
			require.NotNil(t, *x, "item %d", took)
			require.Equal(t, took, **x)
			took++
		}
		require.Equal(t, put-took, q.len())
	}
	for q.first() != nil {
	}
	kept := append(q.spare, q.blocks...)
	require.Len(t, kept, spareBlocks+1)
	for _, block := range kept {
		for _, x := range block[:cap(block)] {
			require.Nil(t, x)
		}
	}
}

func TestAnItemStaysUntilTheNext(t *testing.T) { itemsStay(t) }
