package replicate_test

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
)

// mailbox keeps the messages of a node, with the number of operations before each.
type mailbox struct {
	sync.Mutex
	got []string
	ops []int
}

// Messages of an application pass beside its operations, in all orders, to all members, and
// have their place among the operations.
func TestMessagesPassBesideTheOperations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{Seed: 1})
		cast := failaware.BroadcastConfig{}
		var boxes [3]mailbox
		var all []*holder
		for i := range boxes {
			box, app := &boxes[i], &words{}
			c := replicate.Config{OnMessage: func(m replicate.Message) {
				box.Lock()
				defer box.Unlock()
				box.got = append(box.got, string(m.Payload))
				box.ops = append(box.ops, len(app.list))
			}}
			all = append(all, start(t, failaware.Config{ID: failaware.NodeID(i + 1), Transport: net.Transport(), Broadcast: &cast}, c, app))
		}
		meet(all[0].Node())
		strict := failaware.BroadcastOptions{Order: failaware.TotalOrder, Atomicity: failaware.StrictAtomicity}
		submit(t, all[0], "one")
		o, err := all[1].BroadcastAndWait(within(t, time.Minute), []byte("hello"), strict)
		require.NoError(t, err)
		require.False(t, o.Transitional)
		submit(t, all[0], "two")
		time.Sleep(time.Second) // all have applied it, and not only node 1
		for _, order := range []failaware.Order{failaware.Unordered, failaware.TimedOrder} {
			_, err := all[2].Broadcast(t.Context(), []byte{byte('0' + order)}, failaware.BroadcastOptions{Order: order, Atomicity: failaware.WeakAtomicity})
			require.NoError(t, err)
		}
		time.Sleep(time.Second)
		for i := range boxes {
			box := &boxes[i]
			box.Lock()
			require.Len(t, box.got, 3)
			require.Equal(t, "hello", box.got[0])
			require.Equal(t, []int{1, 2, 2}, box.ops)
			slices.Sort(box.got[1:])
			require.Equal(t, boxes[0].got, box.got)
			box.Unlock()
			require.Equal(t, []string{"one", "two"}, all[i].latest(t))
		}
	})
}
