package leader

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// A node that hears a quorum says so, and outranks leaders that do not.
func TestWhoHearsAQuorumIsPreferred(t *testing.T) { hearsAQuorum(t) }

func hearsAQuorum(t testing.TB) {
	e, alive, now := candidate(t, Available)
	says := func() (st State) {
		e.FillState(now, &st)
		return st
	}
	require.True(t, says().Quorate)
	e.SetAlive(now, timed.SetOf(3))
	require.True(t, says().Quorate)
	e.HandleQuorum(now, 3, QuorumID{Epoch: 1, Digest: 5}, nil)
	require.False(t, says().Quorate, "node 3 votes for another system")
	e.SetAlive(now, alive)
	require.True(t, says().Quorate)
	e.Forget(3)
	e.SetAlive(now, timed.Set{})
	require.False(t, says().Quorate, "alone")

	e.SetAlive(now, alive)
	e.NoteState(start, incarnation(2), &State{Contender: true, Leading: true, Support: 9})
	e.NoteState(start, incarnation(3), &State{Contender: true, Quorate: true})
	require.False(t, e.outranksMe(2))
	require.EqualValues(t, 3, e.best())

	plain := New(Config{Self: incarnation(1), Timing: timed.LAN()}, start)
	plain.SetAlive(start, alive)
	var st State
	plain.FillState(start, &st)
	require.False(t, st.Quorate, "it has no quorum system")
	plain.NoteState(start, incarnation(3), &State{Contender: true, Leading: true, Support: 9})
	require.EqualValues(t, 3, plain.best())
	plain.HandleQuorum(start, 3, QuorumID{Epoch: 1, Digest: 5}, nil)
	require.NotEqualValues(t, 3, plain.best(), "node 3 has one")
}
