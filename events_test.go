package failaware

import (
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/eventring"
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

// numbersContinue reads a stream that has missed some events. Each number follows the one before,
// so that a consumer can continue behind any event, and is told of no event again.
func numbersContinue(t testing.TB) {
	n := &Node{events: eventring.New[event.Event](4)}
	for i := range uint64(10) {
		n.events.Add(event.Unfit{Header: event.Header{Sequence: i + 1}})
	}
	n.events.Close()
	for since := range uint64(10) {
		last, missed := since, uint64(0)
		for e := range n.EventsSince(t.Context(), since) {
			count := uint64(1)
			if m, ok := e.(event.Missed); ok {
				count, missed = m.Count, missed+m.Count
			}
			require.Equal(t, last+count, e.Head().Sequence, "%v, from %d on", e, since)
			last = e.Head().Sequence
		}
		require.Equal(t, uint64(10), last)
		require.Equal(t, max(6, since)-since, missed)
	}
}

func TestNumbersOfEventsContinue(t *testing.T) { numbersContinue(t) }

// Every event of the stack becomes one for the application, unless the loop alone
// acts on it.
func TestTheEventTable(t *testing.T) {
	own := []stack.EventKind{stack.EventRestart, stack.EventOverrun, stack.EventNewEpoch, stack.EventDuplicateID, stack.EventVerified}
	for k := stack.EventReady; k <= stack.EventPeerForgot; k++ {
		require.Equal(t, slices.Contains(own, k), eventOf[k] == nil, "event %d", k)
	}
	require.Len(t, eventOf, len(eventTable))
}

// People hear at once of events that they may have to act on, and of no others.
func levelsOfEvents(t testing.TB) {
	n := &Node{cfg: Config{ID: 1}.WithDefaults()}
	other := TimelineID{Leader: 2, Boot: 1}
	for level, events := range map[hclog.Level][]event.Event{
		hclog.Warn: {event.Missed{}, event.Restarted{}, event.QuorumChange{Step: event.QuorumConflict}, event.QuorumChange{Step: event.QuorumDead},
			event.QuorumChange{Step: event.QuorumUnordered}, event.QuorumChange{Step: event.QuorumIgnored},
			event.ClockStepped{Previous: other, Step: -time.Second}, event.UTCChanged{State: clocksync.UTCDisputed}},
		hclog.Info: {event.Elected{Global: true}, event.QuorumChange{Step: event.QuorumEntered}, event.QuorumChange{Step: event.QuorumProposed},
			event.QuorumChange{Step: event.QuorumSuperseded}, event.QuorumChange{Step: event.QuorumDecided}, event.Restarted{Reason: event.NewEpoch},
			event.ClockStepped{Step: time.Hour}, event.UTCChanged{State: clocksync.UTCKnown}, event.UTCChanged{}, event.ClockStepped{Previous: other, Step: 134}},
		hclog.Debug: {event.PeerAlive{}, event.ClockAdopted{}},
	} {
		for _, e := range events {
			require.Equal(t, level, n.levelOf(e), "%v", e)
		}
	}
}

func TestLevelsOfEvents(t *testing.T) { levelsOfEvents(t) }

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
