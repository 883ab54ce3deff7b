package membership

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// A node that is put off is in no proposal until the others have installed a view without it.
func TestANodeThatIsPutOffComesLater(t *testing.T) {
	g := newTrio(t)
	g.won(1, 2, 3)
	require.Empty(t, g.leader.PutOff(now, timed.SetOf(9), nil), "it is not proposed")
	first := g.leader.Proposal().ID
	require.Equal(t, []Kind{RequestRound}, kinds(g.leader.PutOff(now, timed.SetOf(3), nil)))
	require.Greater(t, g.leader.Proposal().ID.Sequence, first.Sequence)
	g.won(1, 2, 3)
	require.Equal(t, timed.SetOf(1, 2), g.leader.Proposal().Set)
	g.round(2)
	require.Equal(t, timed.SetOf(1, 2), g.leader.Committed().Set)
	g.won(1, 2, 3)
	require.Nil(t, g.leader.Proposal(), "node 2 has not installed the view yet")
	g.round(2)
	g.won(1, 2, 3)
	require.Equal(t, timed.SetOf(1, 2, 3), g.leader.Proposal().Set)
	require.Empty(t, g.leader.PutOff(now, timed.SetOf(2), nil), "members of the committed view stay")
}

// A node that was put off is in the first proposal of the next lead: what held it up then says nothing.
func putOffEndsWithTheLead(t testing.TB) {
	g := newTrio(t)
	g.won(1, 2, 3)
	g.leader.PutOff(now, timed.SetOf(3), nil)
	g.leader.HandleGaveUp(now, LeadEnded, 1, nil)
	g.won(1, 2, 3)
	require.Equal(t, timed.SetOf(1, 2, 3), g.leader.Proposal().Set)
}

func TestToBePutOffEndsWithTheLead(t *testing.T) { putOffEndsWithTheLead(t) }
