package replicate

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/replicate/internal/engine"
	"github.com/failaware/failaware/timed"
)

// A refusal says all that is known about why.
func TestARefusalSaysWhy(t *testing.T) {
	full, cause := errors.New("no room"), errors.New("impatient")
	err := refusal(&engine.Status{Situation: Recovering, Absent: timed.SetOf(4), Full: full}, cause)
	require.Equal(t, &NotAcceptingError{Situation: Recovering, Absent: timed.SetOf(4), Full: full, Err: cause}, err)
	for _, matched := range []error{ErrNotAccepting, ErrRecovering, cause} {
		require.ErrorIs(t, err, matched)
	}
	require.ErrorContains(t, err, "nodes {4} are absent: no room: impatient")
}

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

// Each field of an event comes from the one of the engine's event that it is named after, and
// the texts say the same.
func TestEventsHaveTheirOwnFields(t *testing.T) {
	view, failed := failaware.ViewID{Sequence: 9, Leader: 2}, errors.New("why")
	all := replica.Event{View: view, Member: 3, Members: timed.SetOf(1, 2), Absent: timed.SetOf(4), Bytes: 5, Total: 7,
		Branches: []timed.Set{timed.SetOf(1), timed.SetOf(2)}, At: replica.Point{View: failaware.ViewID{Sequence: 8, Leader: 1}, Position: 12},
		Ours: 0x10, Theirs: 0x11, Err: failed, Setting: "s", Here: "h", There: "t", Lossy: true}
	name := all.Name.String()
	texts := map[replica.EventKind]string{
		replica.EventSettled:    "{1 2} have its state",
		replica.EventProgress:   "5 of 7 bytes of the state have come from node 3",
		replica.EventRestored:   "5 bytes from node 3",
		replica.EventWaiting:    "remember the state: operations wait, because nodes {4} may know more",
		replica.EventBegun:      "the state that {1 2} remember",
		replica.EventRefused:    "node 3 cannot make a snapshot: why",
		replica.EventRecovered:  "the state has 7 operations since the snapshot; 5 bytes",
		replica.EventDisk:       "why",
		replica.EventRolledBack: "nodes {1 2} lack operations that were on their disks",
		replica.EventDiffers:    "node 3 has other settings: s is h here and t there",
		replica.EventTooLarge:   "the state that node 3 sends has 7 bytes, and this node takes no more than 5",
		replica.EventCorrupt:    "from node 3",
		replica.EventDiverged:   "the state of node 3 differs at position 12 of view " + all.At.View.String() + ": its hash is 0000000000000011, and 0000000000000010 here",
	}
	for kind, want := range map[replica.EventKind]Event{
		replica.EventSettled:     Settled{View: view, Holders: all.Members},
		replica.EventProgress:    Receiving{View: view, Source: 3, Snapshot: name, Bytes: 5, Total: 7},
		replica.EventRestored:    Restored{View: view, Source: 3, Snapshot: name, Bytes: 5},
		replica.EventMerged:      Merged{View: view, Branches: all.Branches},
		replica.EventStartedOver: StartedOver{View: view, Snapshot: name, Bytes: 5},
		replica.EventWaiting:     AwaitsMemory{View: view, Remember: all.Members, Absent: all.Absent},
		replica.EventBegun:       Begun{View: view, Remember: all.Members, Absent: all.Absent, Lossy: true},
		replica.EventDiscarded:   Discarded{View: view},
		replica.EventStateLost:   StateLost{View: view, Snapshot: name},
		replica.EventRefused:     Refused{View: view, Source: 3, Snapshot: name, Err: failed},
		replica.EventStuck:       Stuck{View: view, Snapshot: name},
		replica.EventTooLarge:    TooLarge{View: view, Source: 3, Snapshot: name, Bytes: 7, Limit: 5},
		replica.EventRecovered:   Recovered{Operations: 7, Cut: 5},
		replica.EventDisk:        Disk{Err: failed},
		replica.EventRolledBack:  RolledBack{View: view, Members: all.Members},
		replica.EventDiffers:     Differs{View: view, Member: 3, Setting: "s", Here: "h", There: "t"},
		replica.EventCorrupt:     Corrupt{View: view, Source: 3, Snapshot: name},
		replica.EventDiverged:    Diverged{View: all.At.View, Position: 12, Member: 3, Ours: 0x10, Theirs: 0x11},
	} {
		all.Kind = kind
		got := eventOf(&engine.Event{Event: all})
		require.Equal(t, want, got)
		require.Contains(t, got.String(), texts[kind])
	}
	require.Contains(t, AwaitsMemory{View: view, Absent: all.Absent}.String(), "no member of view "+view.String()+" has a state yet: operations wait until nodes ")
	require.NotContains(t, Begun{View: view}.String(), "gone")
	require.Contains(t, Begun{View: view, Lossy: true}.String(), "what the group has acknowledged before, if anything, is gone")
	require.Contains(t, Settled{View: view}.String(), "no member has its state yet")
	require.Equal(t, AwaitsReports{View: view, Members: all.Members, For: time.Minute}, eventOf(&engine.Event{Event: all, Reports: time.Minute}))
	require.Equal(t, Hanging{View: view, For: time.Minute, Waiting: 6}, eventOf(&engine.Event{Event: all, Hangs: time.Minute, Waiting: 6}))
}
