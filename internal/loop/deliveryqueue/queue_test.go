package deliveryqueue

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Items that the loop stages come to the consumer once and in order, with their
// payloads, while the ring grows and wraps around.
func TestItemsPassFromTheLoopToTheConsumer(t *testing.T) {
	const items = 20_000
	q := New(1<<20, true)
	var loop sync.WaitGroup
	loop.Go(func() {
		random := rand.New(rand.NewPCG(1, 2))
		for n := 0; n < items; {
			for range random.IntN(300) {
				it := q.Stage()
				if it.Kind != 0 || it.Message.Payload != nil || it.View != nil {
					t.Errorf("item %d is not empty: %v", n, it)
				}
				it.Kind, it.Message.Position = Message, uint64(n)
				it.Message.Payload = fmt.Appendf(nil, "payload %d", n)
				n++
			}
			q.Commit()
		}
	})
	next := uint64(0)
	for next < items {
		got, _, _ := q.Borrow(100)
		if len(got) == 0 {
			<-q.Ready()
			continue
		}
		got = slices.Clone(got) // Unread returns most of them
		if len(got) > 1 && next%3 == 0 {
			q.Unread(1)
			got = got[:len(got)-1]
		}
		for i := range got {
			require.Equal(t, next, got[i].Message.Position)
			require.Equal(t, fmt.Sprintf("payload %d", next), string(got[i].Message.Payload))
			next++
		}
	}
	loop.Wait()
}

// A ring that a burst has made large becomes small again, and loses nothing.
func TestARingShrinksAfterABurst(t *testing.T) {
	q := New(1<<30, false)
	stage := func(n uint64) {
		q.Stage().Message.Position = n
		q.Commit()
	}
	for n := range uint64(10_000) {
		stage(n)
	}
	next := uint64(0)
	take := func(max int) {
		items, _, _ := q.Borrow(max)
		for i := range items {
			require.Equal(t, next, items[i].Message.Position)
			next++
		}
		q.Returned()
	}
	for next < 9_990 {
		take(100)
	}
	take(5)
	require.Len(t, q.ring, 1024)
	for n := range uint64(5_000) {
		stage(10_000 + n)
		take(1)
	}
	for next < 15_000 {
		take(100)
	}
	take(1)
	require.Len(t, q.ring, 1024)

	// The small ring grows again before it is overwritten.
	for n := range uint64(3_000) {
		stage(15_000 + n)
	}
	for next < 18_000 {
		take(100)
	}
}
