package failaware

import (
	"testing"

	"github.com/stretchr/testify/require"
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
	var got []byte
	read := func() (panicked bool) {
		defer func() { panicked = recover() != nil }()
		for d, err := range n.Deliveries(ctx) {
			require.NoError(t, err)
			if d.Change != nil {
				continue
			}
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
