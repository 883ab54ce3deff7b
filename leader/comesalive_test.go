package leader

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// A node that comes alive while a round is open is waited for, like those that were asked: it may
// have a leader of its own.
func roundWaitsForTheNew(t testing.TB) {
	e, _, now := readyVoter()
	for _, id := range []timed.NodeID{2, 3} {
		e.NoteState(start, incarnation(id), &State{})
	}
	e.SetAlive(now, timed.SetOf(2))
	e.RequestSoon()
	out := e.HandleTimeout(now.Add(e.grace()), nil)
	now = now.Add(e.grace())
	require.NotEmpty(t, out)
	require.True(t, e.Open())
	e.SetAlive(now, timed.SetOf(2, 3))
	e.HandleReply(now.Add(1), incarnation(2), Reply{Number: e.LastRequest(), Support: true}, true, nil)
	require.True(t, e.Open(), "node 3 has not answered")
	require.False(t, e.Leads(now.Add(1)))
	e.HandleReply(now.Add(2), incarnation(3), Reply{Number: e.LastRequest(), Support: true}, true, nil)
	require.True(t, e.Leads(now.Add(2)))
}

func TestARoundWaitsForWhoComesAlive(t *testing.T) { roundWaitsForTheNew(t) }
