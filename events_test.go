package failaware

import (
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/stack"
)

func TestNodesEventsEndWithTheNode(t *testing.T) {
	n := startNode(t, Config{ID: 1, EventBuffer: 2})
	events := n.Events(t.Context())
	waitElected(t, n)
	eventually(t, "a view", func() bool { return n.View().UpToDate })
	require.NoError(t, n.Close())
	missed, kinds := uint64(0), []string{}
	for e := range events {
		if m, ok := e.(event.Missed); ok {
			missed = m.Count
		}
		kinds = append(kinds, e.Kind())
	}
	require.NotZero(t, missed)
	require.Len(t, kinds, 3)
}

// Every event of the stack becomes one for the application, unless the loop alone
// acts on it.
func TestTheEventTable(t *testing.T) {
	own := []stack.EventKind{stack.EventRestart, stack.EventOverrun, stack.EventNewEpoch, stack.EventDuplicateID, stack.EventVerified}
	for k := stack.EventReady; k <= stack.EventInconsistent; k++ {
		require.Equal(t, slices.Contains(own, k), eventOf[k] == nil, "event %d", k)
	}
	require.Len(t, eventOf, len(eventTable))
}

// People hear at once of events that they may have to act on, and of no others.
func TestLevelsOfEvents(t *testing.T) {
	n := &Node{cfg: Config{ID: 1}.WithDefaults()}
	other := TimelineID{Leader: 2, Boot: 1}
	for level, events := range map[hclog.Level][]event.Event{
		hclog.Warn: {event.Missed{}, event.Restarted{}, event.QuorumChange{Step: event.QuorumConflict},
			event.ClockStepped{Previous: other, Step: -time.Second}},
		hclog.Info: {event.Elected{Global: true}, event.QuorumChange{Step: event.QuorumEntered}, event.Restarted{Reason: event.NewEpoch},
			event.ClockStepped{Step: time.Hour}, event.ClockStepped{Previous: other, Step: 134}},
		hclog.Debug: {event.PeerAlive{}, event.ClockAdopted{}},
	} {
		for _, e := range events {
			require.Equal(t, level, n.levelOf(e), "%v", e)
		}
	}
}

// A number that this process has not reached is of another one: a consumer that continues
// with it gets all that is kept, and not nothing.
func TestEventsOfAnotherProcessBeginAnew(t *testing.T) {
	n := startNode(t, Config{ID: 1})
	waitElected(t, n)
	for range n.EventsSince(bounded(t), 1<<40) {
		return
	}
	require.Fail(t, "it waits for that number")
}
