package replicate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/replicate/internal/engine"
)

// Every kind of event has a type of its own.
func TestEventsHaveTypes(t *testing.T) {
	seen := map[Event]bool{}
	for k := replica.EventSettled; k <= replica.EventDisk; k++ {
		if k == replica.EventMerged {
			require.IsType(t, Merged{}, eventOf(&engine.Event{Event: replica.Event{Kind: k}}))
			continue
		}
		e := eventOf(&engine.Event{Event: replica.Event{Kind: k, Bytes: 1}})
		require.NotEmpty(t, e.String())
		require.Equal(t, k == replica.EventDiverged, e == Event(Diverged{}))
		seen[e] = true
	}
	require.Len(t, seen, int(replica.EventDisk)-1)
}
