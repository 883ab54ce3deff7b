package admit

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// addressesLead says where packets to a peer go after packets from it.
func addressesLead(t testing.TB) {
	const patience = time.Second
	require.True(t, new(Way[int]{Listed: 1}).Trusts(1), "it is configured")
	require.False(t, new(Way[int]).Trusts(0), "nothing is")
	_, leads := (&Way[int]{Addr: 1}).Also(0, false)
	require.False(t, leads, "only one address is known")
	w := Way[int]{Listed: 1, Addr: 1, Proved: true}
	also := func(now timed.Instant, alive bool) int {
		a, ok := w.Also(now, alive)
		if !ok {
			return 0
		}
		return a.Addr
	}
	w.Follow(10, 5, 100, 1, true, patience)
	w.Follow(20, 5, 100, 2, true, patience)
	require.Equal(t, 1, w.Addr, "one packet from two addresses was sent on from one of them")
	w.Follow(20, 5, 101, 2, false, patience)
	require.Equal(t, 1, w.Addr)
	require.Equal(t, 2, also(20, true), "it may have moved")
	require.Zero(t, also(timed.Instant(20).Add(patience), true))
	w.Follow(30, 5, 102, 2, true, patience)
	require.Equal(t, 2, w.Addr)
	w.Follow(40, 5, 103, 3, true, patience)
	require.Zero(t, also(40, true), "where packets went has become where they go")
	w.Follow(45, 6, 7, 5, true, patience)
	require.Equal(t, 5, w.Addr, "another incarnation has stamps of another clock")

	w.Meet(50, 7, 4, false, patience)
	require.Zero(t, also(50, true), "another incarnation is elsewhere, and the accepted one is heard")
	require.Equal(t, 4, also(50, false))
	w.Restart()
	require.Equal(t, 1, also(50, false), "it may come back to the configured address")
	require.Zero(t, also(50, true))
	w.Addr = 1
	require.Zero(t, also(50, false))
}
