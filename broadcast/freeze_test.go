package broadcast

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
)

// staysFrozen reports whether a member that has acknowledged a proposal stays frozen
// when it hears nothing more of the proposal.
func staysFrozen() bool {
	g := newTrio(3, Config{})
	s := g.nodes[1]
	s.Freeze(g.now, viewOf(2, 0, 1), false)
	for range 100 {
		g.now = g.now.Add(g.nodes[1].cfg.Timing.Expires / 10)
		s.HandleTimeout(g.now, clocksync.Reading{}, nil)
		s.Reclaim()
	}
	return s.frozen()
}

func TestAFrozenMemberStaysSo(t *testing.T) { require.True(t, staysFrozen()) }
