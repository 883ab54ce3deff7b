package failaware

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/life"
	"github.com/failaware/failaware/internal/loop/deliveryqueue"
	"github.com/failaware/failaware/internal/loop/sendqueue"
	"github.com/failaware/failaware/timed"
)

// A loop over the deliveries that panics leaves what it has not seen to the next one.
func TestAPanicInALoopOverTheDeliveriesLosesNothing(t *testing.T) {
	n := startNode(t, Config{ID: 1, Broadcast: &BroadcastConfig{}})
	ctx := bounded(t)
	const count = 40
	for i := range count {
		_, err := n.BroadcastAndWait(ctx, []byte{byte(i)}, BroadcastOptions{Order: TotalOrder, Atomicity: WeakAtomicity})
		require.NoError(t, err)
	}
	require.NoError(t, n.Close()) // who waits for a lost item gets an error
	var got []byte
	read := func() (panicked bool) {
		defer func() { panicked = recover() != nil }()
		for d, err := range n.Deliveries(ctx) {
			require.NoError(t, err)
			if d.Change != nil {
				continue
			}
			require.Equal(t, byte(len(got)), d.Payload[0])
			if got = append(got, d.Payload...); len(got)%7 == 3 {
				panic("the application is broken")
			}
			if len(got) == count {
				return false
			}
		}
		return false
	}
	for read() {
	}
	for i := range count {
		require.Equal(t, byte(i), got[i])
	}
}

// deliveriesSayAll requires that deliveries and outcomes say all that the broadcast says of a
// message, and changes all that it says of them.
func deliveriesSayAll(t testing.TB) {
	v, former, along := &View{ID: ViewID{Sequence: 7, Leader: 2, Boot: 3}}, ViewID{Sequence: 6, Leader: 1, Boot: 4}, timed.SetOf(2, 3)
	m := broadcast.Delivery{ID: MessageID{Sender: 2, Class: broadcast.ClassOrdered, Boot: 3, Sequence: 9},
		Options:      broadcast.Options{Order: TimedOrder, Atomicity: WeakAtomicity},
		Transitional: true, Position: 5, Stamp: 11, Deviation: 12, Payload: []byte("x")}
	var d Delivery
	d.fill(&deliveryqueue.Item{Kind: deliveryqueue.Message, View: v, Message: m})
	require.Equal(t, Delivery{View: v, ID: m.ID, Order: TimedOrder, Atomicity: WeakAtomicity, Transitional: true,
		Position: 5, Stamp: 11, Deviation: 12, Payload: m.Payload}, d)
	require.Equal(t, Outcome{ID: m.ID, View: v, Transitional: true, Position: 5, Stamp: 11, Deviation: 12},
		outcomeOf(&sendqueue.Outcome{Message: m, View: v}))

	from, merged := m.ID, []Branch{{From: former, Members: along}}
	from.Sequence = 4
	change := deliveryqueue.Change{Next: v, Previous: former, Along: along, Merged: merged, From: 4, Reason: life.Overrun}
	for kind, want := range map[deliveryqueue.Kind]Change{
		deliveryqueue.Transition:     TransitionBegins{v, along},
		deliveryqueue.Installed:      ViewChange{former, along, merged},
		deliveryqueue.Lost:           OutcomeLost{from, m.ID},
		deliveryqueue.NewIncarnation: NewIncarnation{restartReasons[life.Overrun], 3},
	} {
		d.fill(&deliveryqueue.Item{Kind: kind, View: v, Message: m, Change: &change})
		require.Equal(t, Delivery{View: v, Change: want}, d)
	}
}

func TestDeliveriesSayAllThatIsKnown(t *testing.T) { deliveriesSayAll(t) }
