package loop

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// A node without a quorum names itself as the leader of its part, and nobody as the global
// one: a search for the global leader must not be led astray.
func globalLeadersAreNamed(t testing.TB) {
	l, c := newTestLoop(t)
	d := l.driver
	for !d.stack.Leads(d.clock.now) {
		step(l, c)
	}
	require.Equal(t, timed.NodeID(1), d.namedLeader(1, false))
	require.Equal(t, timed.NoNode, d.namedLeader(1, true))
	require.Equal(t, timed.NoNode, d.namedLeader(2, true), "it has said nothing")
}

func TestWhoIsNamedAsTheLeader(t *testing.T) { globalLeadersAreNamed(t) }
