package loop

import (
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/life"
	"github.com/failaware/failaware/internal/loop/deliveryqueue"
	"github.com/failaware/failaware/internal/loop/sendqueue"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// fill queues messages until the queue is full, without a turn.
func fill(t testing.TB, l *Loop, size int) (n int) {
	l.driver.mu.Lock() // no caller takes a turn
	defer l.driver.mu.Unlock()
	for {
		_, err := l.Sends().Send(t.Context(), sendqueue.Application, make([]byte, size), broadcast.Options{}, nil, true)
		if err != nil {
			require.ErrorIs(t, err, broadcast.ErrWindowFull)
			return n
		}
		n++
	}
}

// newRoomIsUsed fills the window of a node that is alone. What its timers make room for, the
// messages that wait take in the same turn: no packet will come that would tell of it.
func newRoomIsUsed(t testing.TB) {
	l, c := newLoop(func(c *Config) {
		cast := *c.Stack.Broadcast
		cast.Window = 4
		c.Stack.Broadcast = &cast
	})
	d := l.driver
	for d.stack == nil || d.stack.BroadcastState().View() == nil {
		step(l, c)
	}
	d.clock.until = timed.Never
	fill(t, l, 1000)
	turns := 0
	for ; d.msgs.sends.Refill(broadcast.ClassOrdered, d.stack); turns++ {
		require.Less(t, turns, 10_000)
		step(l, c)
		takeAll(l)
		if d.msgs.sends.Refill(broadcast.ClassOrdered, d.stack) && !d.msgs.more {
			_, err := d.msgs.sends.HandOver(broadcast.ClassOrdered, d.clock.now, d.stack)
			require.Error(t, err, "messages wait, and there is room")
		}
	}
	require.Greater(t, turns, 3)
}

// takeAll takes all deliveries, and gives them back.
func takeAll(l *Loop) (payloads [][]byte) {
	for {
		items, _, _ := l.Deliveries().Borrow(64)
		if len(items) == 0 {
			return payloads
		}
		for i := range items {
			if items[i].Kind == deliveryqueue.Message {
				payloads = append(payloads, items[i].Message.Payload)
			}
		}
	}
}

func TestRoomThatTimersMakeIsUsed(t *testing.T) { newRoomIsUsed(t) }

// loansEnd has an application take far more bytes than may be lent, and give them back. Then
// the broadcast still lends, and does not copy: payloads that were sent together are one
// piece of memory.
func loansEnd(t testing.TB) {
	l, c := newTestLoop(t)
	d := l.driver
	sent, most := 0, 2*d.cfg.Broadcast.Backlog+16<<20
	for sent < most {
		sent += 1000 * fill(t, l, 1000)
		c.advance(time.Millisecond)
		d.turn(nil, l.cfg.Clock.Read())
		takeAll(l)
	}
	for d.msgs.sends.Refill(broadcast.ClassOrdered, d.stack) || d.msgs.more {
		step(l, c)
		takeAll(l)
	}
	step(l, c)
	fill(t, l, 1000)
	c.advance(time.Millisecond)
	d.turn(nil, l.cfg.Clock.Read())
	got := takeAll(l)
	require.Greater(t, len(got), 10)
	together := 0
	for i := range got[1:] {
		if unsafe.Add(unsafe.Pointer(unsafe.SliceData(got[i])), len(got[i])) == unsafe.Pointer(unsafe.SliceData(got[i+1])) {
			together++
		}
	}
	require.Greater(t, together, len(got)/2, "payloads were copied, as if all were lent")
}

func TestLoansEndWhenTheirItemsAreGivenBack(t *testing.T) { loansEnd(t) }

// droppedIsConsumed drops deliveries that nobody wants. The broadcast learns of each byte of
// them once, and never of those of an incarnation before.
func droppedIsConsumed(t testing.TB) {
	l, c := newLoop(func(c *Config) { c.Deliver = false })
	d := l.driver
	for d.stack == nil || d.stack.BroadcastState().View() == nil {
		step(l, c)
	}
	d.consumed()
	e := &broadcast.Effect{Deliveries: []broadcast.Delivery{{Payload: make([]byte, 10)}, {Payload: make([]byte, 300)}}}
	d.stageMessages(e)
	d.stageMessages(e)
	require.Equal(t, deliveryqueue.Taken{Bytes: 620, Count: 4}, d.msgs.dropped)
	d.restart(life.PeersContradict, c.instant(), 0)
	require.Zero(t, d.msgs.dropped)
	for d.stack == nil || d.stack.BroadcastState().View() == nil {
		step(l, c)
	}
	_, err := l.Sends().Send(t.Context(), sendqueue.Application, make([]byte, 10), broadcast.Options{}, nil, true)
	require.NoError(t, err)
	for range 3 {
		step(l, c)
	}
	d.consumed()
	require.Zero(t, d.msgs.dropped)
}

func TestDroppedDeliveriesAreConsumed(t *testing.T) { droppedIsConsumed(t) }

// refusesWithoutQuorum has views with and without a quorum come. Callers learn at once whether
// messages are ordered in the view; others go on.
func refusesWithoutQuorum(t testing.TB) {
	majority, err := quorum.Majority(timed.SetOf(1, 2, 3))
	require.NoError(t, err)
	l, c := newLoop(func(c *Config) {
		cast := *c.Stack.Broadcast
		cast.Quorum = majority
		c.Stack.Broadcast = &cast
	})
	d := l.driver
	for d.stack == nil || d.stack.BroadcastState().View() == nil {
		step(l, c)
	}
	send := func(order broadcast.Order) error {
		d.mu.Lock() // no caller takes a turn
		defer d.mu.Unlock()
		_, err := l.Sends().Send(t.Context(), sendqueue.Application, []byte("a word"), broadcast.Options{Order: order}, nil, true)
		return err
	}
	for n := range timed.NodeID(3) { // alone, with node 2, and alone again
		if n > 0 {
			v := &membership.View{Set: timed.SetOf(1, 1+n%2), Members: []membership.Member{{Incarnation: d.cfg.Self}}}
			d.deliver(&broadcast.Effect{Kind: broadcast.Installed, View: v})
		}
		if n == 1 {
			require.NoError(t, send(broadcast.TotalOrder))
		} else {
			require.ErrorIs(t, send(broadcast.TotalOrder), broadcast.ErrNoQuorum)
		}
		require.NoError(t, send(broadcast.Unordered))
	}
}

func TestMessagesWithoutAQuorumAreRefused(t *testing.T) { refusesWithoutQuorum(t) }
