package sendqueue

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
)

// Callers that arrive may overtake one that was woken, but only once: on a busy
// machine one of them was overtaken for a minute.
func TestAWaiterIsOvertakenAtMostOnce(t *testing.T) {
	q := New(Options{Self: 1, PacketBytes: classBytes})
	machine := broadcast.New(broadcast.Config{})
	opt := broadcast.Options{Order: broadcast.TotalOrder, Atomicity: broadcast.WeakAtomicity}
	class := opt.Order.Class()
	c := &q.classes[class]
	put := func(at *place) error {
		_, _, err := q.put(Application, make([]byte, classBytes), opt, nil, true, at)
		return err
	}
	woken := func() bool {
		select {
		case <-c.room[Application]:
			return true
		default:
			return false
		}
	}
	empty := func() {
		q.Refill(class, machine)
		c.next = len(c.out.messages)
	}
	var slow, other, third place
	require.NoError(t, put(&other))
	require.ErrorIs(t, put(&slow), broadcast.ErrWindowFull, "it waits")
	empty()
	require.True(t, woken())
	require.NoError(t, put(&other), "another is faster")
	require.ErrorIs(t, put(&slow), broadcast.ErrWindowFull, "it waits again")
	empty()
	require.True(t, woken())
	require.ErrorIs(t, put(&other), broadcast.ErrWindowFull, "now the others wait behind it")
	require.True(t, woken())
	require.ErrorIs(t, put(&other), broadcast.ErrWindowFull, "also when they are woken")
	require.True(t, woken())
	require.NoError(t, put(&slow))
	empty()
	require.True(t, woken(), "and are woken after it")
	require.NoError(t, put(&other))
	require.Zero(t, c.waiting[Application])
	require.Zero(t, c.overtaken[Application])

	// A caller that gives up does not hold up the others.
	slow = arriving
	require.ErrorIs(t, put(&slow), broadcast.ErrWindowFull)
	require.ErrorIs(t, put(&slow), broadcast.ErrWindowFull)
	q.giveUp(class, Application, slow)
	empty()
	require.NoError(t, put(&third))
}

// Outcomes reach the callers that wait for them, and losses all of a class.
func TestOutcomesReachTheirWaiters(t *testing.T) {
	q := New(Options{Self: 1, PacketBytes: classBytes, Wake: func() {}})
	q.Restart(7)
	send := func(order broadcast.Order) (*Waiter, broadcast.ID) {
		w := q.NewWaiter()
		id, err := q.Send(t.Context(), Application, []byte("x"), broadcast.Options{Order: order, Atomicity: broadcast.WeakAtomicity}, w.Queued, true)
		require.NoError(t, err)
		return w, id
	}
	one, first := send(broadcast.TotalOrder)
	_, err := q.Send(t.Context(), Application, nil, broadcast.Options{Order: broadcast.TotalOrder, Atomicity: broadcast.WeakAtomicity}, nil, true)
	require.NoError(t, err, "nobody waits for this one")
	two, second := send(broadcast.TotalOrder)
	other, _ := send(broadcast.Unordered)
	require.Equal(t, broadcast.ID{Sender: 1, Boot: 7, Class: broadcast.ClassOrdered, Sequence: 1}, first)
	require.Equal(t, uint64(3), second.Sequence)
	require.True(t, q.Awaited(broadcast.ClassOrdered) && q.Awaited(broadcast.ClassUnordered))
	q.Resolve([]Outcome{{Message: broadcast.Delivery{ID: first, Position: 5}}})
	require.Equal(t, uint64(5), (<-one.Result).Message.Position)
	q.Resolve([]Outcome{{Message: broadcast.Delivery{ID: broadcast.ID{Class: broadcast.ClassOrdered, Sequence: 2}}}})
	require.Empty(t, two.Result)
	q.Resolve([]Outcome{{Message: broadcast.Delivery{ID: second}, Lost: OrderedElsewhere}})
	require.Equal(t, OrderedElsewhere, (<-two.Result).Lost)
	require.False(t, q.Awaited(broadcast.ClassOrdered))
	q.Restart(8)
	require.Equal(t, IncarnationEnded, (<-other.Result).Lost)
	last, _ := send(broadcast.Unordered)
	q.Stop()
	require.Equal(t, NodeStopped, (<-last.Result).Lost)
	_, err = q.Send(t.Context(), Application, nil, broadcast.Options{Order: broadcast.Unordered, Atomicity: broadcast.WeakAtomicity}, nil, false)
	require.ErrorIs(t, err, ErrClosed)
}

// waitsBefore has the loop look for a message as soon as it may. The caller has begun to wait for
// its outcome by then.
func waitsBefore(t testing.TB) {
	began, early := false, false
	q := New(Options{Self: 1, PacketBytes: classBytes})
	q.opt.Wake = func() { early = !began }
	q.Restart(7)
	queued := func(broadcast.ID) {
		if began = !q.mu.TryLock(); !began {
			q.mu.Unlock()
		}
	}
	_, err := q.Send(t.Context(), Application, []byte("x"), broadcast.Options{Order: broadcast.TotalOrder}, queued, true)
	require.NoError(t, err)
	require.True(t, began, "the loop could have taken the message")
	require.False(t, early)
}

func TestACallerWaitsBeforeItsMessageGoes(t *testing.T) { waitsBefore(t) }

// The next incarnation does not inherit the lack of a quorum: it knows no view yet.
func refusalEnds(t testing.TB) {
	q := New(Options{Self: 1, PacketBytes: classBytes, Wake: func() {}})
	opt := broadcast.Options{Order: broadcast.TotalOrder, Atomicity: broadcast.WeakAtomicity}
	q.Refuse(true)
	_, err := q.Send(t.Context(), Application, nil, opt, nil, true)
	require.ErrorIs(t, err, broadcast.ErrNoQuorum)
	q.Restart(2)
	_, err = q.Send(t.Context(), Application, nil, opt, nil, true)
	require.NoError(t, err)
}

func TestARefusalEndsWithTheIncarnation(t *testing.T) { refusalEnds(t) }
