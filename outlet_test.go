package failaware

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
)

// Callers that come along may be faster than one that is called, but only once:
// on a busy machine one of them was passed by for a minute.
func TestWhoWaitsIsNotPassedByForEver(t *testing.T) {
	o := newOutlet(1, &BroadcastConfig{MaxPayload: laneBytes, PacketBytes: laneBytes})
	machine := broadcast.New(broadcast.Config{})
	opt := broadcast.Options{Order: TotalOrder}
	class := opt.Order.Class()
	put := func(at *place) error {
		_, _, err := o.put(make([]byte, laneBytes), opt, nil, true, at)
		return err
	}
	called := func() bool {
		select {
		case <-o.lanes[class].room:
			return true
		default:
			return false
		}
	}
	empty := func() {
		o.refill(class, machine)
		o.lanes[class].next = len(o.lanes[class].out.each)
	}
	var slow, other, third place
	require.NoError(t, put(&other))
	require.ErrorIs(t, put(&slow), ErrWindowFull, "it waits")
	empty()
	require.True(t, called())
	require.NoError(t, put(&other), "somebody else is faster")
	require.ErrorIs(t, put(&slow), ErrWindowFull, "it waits again")
	empty()
	require.True(t, called())
	require.ErrorIs(t, put(&other), ErrWindowFull, "now the others wait behind it")
	require.True(t, called())
	require.ErrorIs(t, put(&other), ErrWindowFull, "also when it is they who are called")
	require.True(t, called())
	require.NoError(t, put(&slow))
	empty()
	require.True(t, called(), "and are called after it")
	require.NoError(t, put(&other))
	require.Equal(t, lane{in: o.lanes[class].in, out: o.lanes[class].out, last: 4, next: o.lanes[class].next, room: o.lanes[class].room,
		slabs: o.lanes[class].slabs},
		o.lanes[class], "nobody waits")

	// Who gives up does not hold up the others.
	slow = comes
	require.ErrorIs(t, put(&slow), ErrWindowFull)
	require.ErrorIs(t, put(&slow), ErrWindowFull)
	o.unwait(class, slow)
	empty()
	require.NoError(t, put(&third))
}
