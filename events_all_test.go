package failaware

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/eventring"
	"github.com/failaware/failaware/internal/leftover"
	"github.com/failaware/failaware/internal/life"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// everything returns an event of the stack with all of its fields.
func everything(kind stack.EventKind) *stack.Event {
	e := &stack.Event{}
	leftover.Fill(e, "View", "Assurance", "Settings")
	e.Kind, e.Change.Kind = kind, epoch.Decided
	e.View = &membership.View{ID: membership.ViewID{Sequence: 9, Leader: 2, Boot: 3}, Set: timed.SetOf(1, 2)}
	e.View.Members = []membership.Member{{Incarnation: Incarnation{Node: 1, Boot: 4}, Previous: e.Previous},
		{Incarnation: Incarnation{Node: 2, Boot: 5}, Previous: membership.ViewID{Sequence: 8, Leader: 2, Boot: 1}}}
	return e
}

// Every field of an event for the application says what the event of the stack does. A field is
// only left out where this node knows nothing that it could say.
func TestEventsSayAllThatIsKnown(t *testing.T) {
	n := startNode(t, Config{ID: 1, Broadcast: &BroadcastConfig{}})
	unknown := map[string]bool{"Falseticker.Name": true, "Truechimer.Name": true, // another node's reference
		"SlowConsumer.Backlog": true, "OtherQuorum.Differences": true, // nothing waits; the peer has not told its settings
		"Elected.Global": true, "LeadLost.Global": true} // those of the local lead
	for i := range eventTable {
		row := &eventTable[i]
		n := &Node{cfg: n.cfg, loop: n.loop, timeline: TimelineID{Leader: 7, Boot: 7, Sequence: 6}}
		made := row.make(n, event.Header{Sequence: 5}, everything(row.of))
		v := reflect.ValueOf(made)
		for f := range v.NumField() {
			name := row.typ.Name() + "." + v.Type().Field(f).Name
			require.True(t, unknown[name] || !v.Field(f).IsZero(), "%s of event %d", name, row.of)
		}
	}
}

// A step of the clock names the timeline that it comes from: that of the last step or
// adoption of the same incarnation.
func TestAStepNamesTheTimelineBefore(t *testing.T) {
	n := &Node{events: eventring.New[event.Event](8)}
	s := (*sink)(n)
	on := func(sequence uint64) TimelineID { return TimelineID{Leader: 2, Boot: 1, Sequence: sequence} }
	previous := func(kind stack.EventKind, to TimelineID) TimelineID {
		s.Event(&stack.Event{Kind: kind, Timeline: to})
		e, _, _, ok := n.events.After(n.events.Last() - 1)
		require.True(t, ok)
		step, _ := e.(event.ClockStepped)
		return step.Previous
	}
	require.Equal(t, TimelineID{}, previous(stack.EventClockStepped, on(1)))
	require.Equal(t, on(1), previous(stack.EventClockStepped, on(2)))
	previous(stack.EventClockAdopted, on(3))
	require.Equal(t, on(3), previous(stack.EventClockStepped, on(4)))
	s.Restarted(life.Suspended, 1, 2)
	require.Equal(t, TimelineID{}, previous(stack.EventClockStepped, on(5)))
}
