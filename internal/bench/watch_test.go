package bench

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/timed"
)

// An answer can lapse just when an event comes, and hold again without another event.
func TestLapseWithoutEventIsReportedOver(t *testing.T) {
	now := state{At: 1, Leader: 1, Held: true}
	var got []state
	w := watcher{look: func() state { return now }, put: func(s state) { got = append(got, s) }}

	w.event(event.PeerAlive{Peer: 2}, timed.Set{})
	require.Len(t, got, 1)
	w.again()
	require.Len(t, got, 1, "nothing has changed")

	now.At, now.Fresh = 2, true
	w.again()
	require.Len(t, got, 2)
	require.True(t, got[1].Fresh)
	require.Equal(t, timed.SetOf(2), got[1].Alive)

	now.At, now.Fresh = 3, false
	w.again()
	require.Len(t, got, 2, "a lapse has an event of its own, or passes")
}
