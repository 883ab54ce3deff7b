package failaware

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the loop stages comes to the consumer once and in order, with its payload,
// while the ring grows and goes round between the two.
func TestItemsPassFromTheLoopToTheConsumer(t *testing.T) {
	const items = 20_000
	b := newInbox(1 << 20)
	var loop sync.WaitGroup
	loop.Go(func() {
		random := rand.New(rand.NewPCG(1, 2))
		for n := 0; n < items; {
			for range random.IntN(300) {
				it := b.add()
				if it.Payload != nil || it.View != nil {
					t.Errorf("item %d is not empty: %v", n, it)
				}
				it.Kind, it.Position = Message, uint64(n)
				it.Payload = fmt.Appendf(nil, "payload %d", n)
				n++
			}
			b.handOver()
		}
	})
	into := make([]Delivery, 100)
	next := uint64(0)
	for next < items {
		n, _, _ := b.borrow(into)
		if n == 0 {
			<-b.ready
			continue
		}
		if n > 1 && next%3 == 0 {
			b.unread(1)
			n--
		}
		for i := range n {
			require.Equal(t, next, into[i].Position)
			require.Equal(t, fmt.Sprintf("payload %d", next), string(into[i].Payload))
			next++
		}
	}
	loop.Wait()
}
