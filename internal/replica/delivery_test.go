package replica

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/leftover"
)

// A delivery that is written down, on a disk or to wait for a state, says all that it said before.
func writtenWhole(t testing.TB) {
	var d broadcast.Delivery
	leftover.Fill(&d)
	for _, marks := range [][2]bool{{false, false}, {true, false}, {true, true}} {
		d.Transitional, d.Flushed = marks[0], marks[1]
		got, err := ParseDelivery(AppendDelivery(nil, &d))
		require.NoError(t, err)
		require.Empty(t, leftover.Differ(&d, &got, "home")) // where the broadcast has the payload
	}
	_, err := ParseDelivery(AppendDelivery(nil, &broadcast.Delivery{})[:deliveryBytes-1])
	require.Error(t, err)
}

func TestAWrittenDeliveryIsWhole(t *testing.T) { writtenWhole(t) }

// A barrier says after which operation it stands, so that its verdict can wait for the disks
// that need that one.
func barrierHasAPlace(t testing.TB) {
	w := newWorld(2, Config{Stored: true})
	w.install(0, 1)
	w.op(0, "a")
	op := w.nodes[0].last
	require.Equal(t, Apply, op.Kind)
	w.perform(0, []Effect{{Kind: Broadcast, Options: strict, Payload: AppendBarrier(nil)}})
	bar := w.nodes[0].last
	require.Equal(t, Barrier, bar.Kind)
	require.NotZero(t, op.At)
	require.Equal(t, op.At, bar.At)
}

func TestABarrierHasAPlace(t *testing.T) { barrierHasAPlace(t) }
