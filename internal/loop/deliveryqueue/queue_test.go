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

// unreadKeepsOne gives items back unread. The application may still look at the one before.
func unreadKeepsOne(t testing.TB) {
	q := New(1<<20, false)
	for range 3 {
		it := q.Stage()
		it.Kind, it.Message.Payload = Message, []byte("x")
	}
	q.Commit()
	got, _, _ := q.Borrow(3)
	q.Unread(2)
	require.Equal(t, "x", string(got[0].Message.Payload))
	require.EqualValues(t, 3*(1+itemOverhead), q.Backlog())
	got, _, _ = q.Borrow(3)
	require.Len(t, got, 2)
	require.EqualValues(t, 2*(1+itemOverhead), q.Backlog())
}

func TestTheItemBeforeUnreadOnesIsKept(t *testing.T) { unreadKeepsOne(t) }

// shrinksLater has the loop look at what was returned while items of its turn are staged in a
// ring that has room for a burst. They come to the consumer all the same.
func shrinksLater(t testing.TB) {
	q := New(1<<20, false)
	for n := range uint64(5_000) {
		q.Stage().Message.Position = n
	}
	q.Commit()
	for items, _, _ := q.Borrow(1000); len(items) > 0; {
		items, _, _ = q.Borrow(1000)
	}
	for n := range uint64(3) {
		it := q.Stage()
		it.Kind, it.Message.Position = Message, 7_000+n
	}
	for range calmLooks + 10 {
		q.Returned()
	}
	require.True(t, q.Commit())
	for n := range uint64(3) {
		items, _, _ := q.Borrow(1)
		require.Len(t, items, 1)
		require.Equal(t, 7_000+n, items[0].Message.Position)
	}
}

func TestWhatIsStagedOutlivesTheEndOfABurst(t *testing.T) { shrinksLater(t) }

// A ring that a burst has made large becomes small again when no other burst follows, and
// loses nothing.
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
	require.Equal(t, 16384, len(q.ring))
	for n := range uint64(5_000) {
		stage(10_000 + n)
		take(1)
	}
	require.Equal(t, 1024, len(q.ring), "used by a few items, in thousands of turns")
	for next < 15_000 {
		take(100)
	}
	take(1)

	// The small ring grows again before it is overwritten.
	for n := range uint64(3_000) {
		stage(15_000 + n)
	}
	for next < 18_000 {
		take(100)
	}
	require.Equal(t, 4096, len(q.ring))

	// It also becomes small if nothing comes any more, and not a turn too early.
	take(100)
	for range calmLooks - 10 {
		q.Returned()
	}
	require.Equal(t, 4096, len(q.ring))
	for range 10 {
		q.Returned()
	}
	require.Equal(t, 1024, len(q.ring))
}

// Bursts that follow each other use one ring: none of them allocates.
func TestBurstsShareARing(t *testing.T) {
	q := New(1<<30, false)
	burst := func() {
		for range 20_000 {
			q.Stage()
			q.Commit()
		}
		for {
			items, _, _ := q.Borrow(256)
			q.Returned()
			if len(items) == 0 {
				return
			}
		}
	}
	burst()
	require.Zero(t, testing.AllocsPerRun(10, burst))
}
