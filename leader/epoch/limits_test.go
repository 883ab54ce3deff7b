package epoch

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/timed"
)

func quiet(t testing.TB, ready timed.Instant) *Machine {
	m, err := New(Config{Self: timed.Incarnation{Node: 1, Boot: 10}, Counter: 1, ReadyAt: ready, Parse: parseMajority, Period: 1, IdlePeriod: 1, Retry: 1},
		State{Epoch: 1, System: "majority 1,2,3"}, 1)
	require.NoError(t, err)
	return m
}

// The votes of a node are in a row for one incarnation. Another incarnation of the same
// node begins a new row: a proposal that rests on an earlier vote is not noted.
func rowsAreOfIncarnations(t testing.TB) {
	m := quiet(t, 1)
	next := "majority 1,2"
	propose := func(at timed.Instant) []Effect {
		s := State{Epoch: 1, System: m.state.System, Phase: Noted, Next: next, Edict: edict.Edict{Epoch: 1,
			Stamps: []edict.Stamp{{Node: 1, Counter: 1, Boot: 10, At: at}, {Node: 2, Counter: 1, Boot: 21, At: at}},
			Digest: edict.Sum(Proposal(1, next))}}
		return m.HandleReport(99, timed.Incarnation{Node: 2, Boot: 21}, &s, nil)
	}
	m.NoteVote(timed.Incarnation{Node: 2, Boot: 20}, 5, 50)
	require.Empty(t, propose(5), "the vote was for a former incarnation")
	m.NoteVote(timed.Incarnation{Node: 2, Boot: 21}, 9, 60)
	require.Empty(t, propose(8))
	require.NotEmpty(t, propose(9))
	require.Equal(t, Noted, m.state.Phase)
}

func TestVotesInARowAreForAnIncarnation(t *testing.T) { rowsAreOfIncarnations(t) }

// A node stops voting when its votes are over, or free, and when it is ready. What is freed
// when it is over already takes no longer.
func wedgesInTime(t testing.TB) {
	voted := timed.Incarnation{Node: 2, Boot: 20}
	for _, c := range []struct{ ready, until, freed, want timed.Instant }{
		{ready: 30, want: 30}, {ready: 30, until: 50, want: 50}, {ready: 30, until: 20, want: 30},
		{ready: 30, until: 50, freed: 40, want: 40}, {ready: 30, until: 50, freed: 60, want: 50}, {ready: 30, until: 50, freed: 20, want: 30},
	} {
		m := quiet(t, c.ready)
		if c.until != 0 {
			m.NoteVote(voted, 5, c.until)
		}
		if c.freed != 0 {
			m.NoteFreed(c.freed, timed.Incarnation{Node: 2, Boot: 21})
			require.Equal(t, timed.Later(c.ready, c.until), m.unboundAt(), "of another incarnation")
			m.NoteFreed(c.freed, voted)
		}
		require.Equal(t, c.want, m.unboundAt(), "%+v", c)
	}
}

func TestANodeWedgesWhenItsVotesAreOver(t *testing.T) { wedgesInTime(t) }

// Two administrators declare different members dead. A node that hears of both counts with
// neither, and the words of nodes that are no members count for nothing.
func allDeadCount(t testing.TB) {
	m := quiet(t, 99)
	w := func(by timed.NodeID, next string, dead ...timed.NodeID) {
		m.wedge(by, &State{Epoch: 1, Phase: Wedged, Next: next, Dead: timed.SetOf(dead...)})
	}
	w(1, "majority 1", 2)
	w(1, "majority 1", 3)
	require.Equal(t, timed.SetOf(2, 3), m.wedges[0].dead)
	require.Equal(t, timed.SetOf(1), m.wedges[0].by)
	m.wedge(2, &State{Epoch: 1, Phase: Wedged, Next: "majority 1", Agreed: true})
	w(2, "majority 1")
	require.True(t, m.wedges[0].agreed, "it stays agreed")
	w(4, "majority 1")
	w(5, "majority 5")
	require.Len(t, m.wedges, 1)
	require.Equal(t, timed.SetOf(1, 2), m.wedges[0].by, "node 4 is no member")
	for _, next := range []string{"majority 1,2", "majority 1,3", "majority 2", "majority 3", "majority 2,3"} {
		w(1, next)
	}
	require.Len(t, m.wedges, maxSuccessors)
}

func TestAllThatAreDeclaredDeadCount(t *testing.T) { allDeadCount(t) }
