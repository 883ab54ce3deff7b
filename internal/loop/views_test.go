package loop

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/life"
	"github.com/failaware/failaware/internal/loop/statedir"
	"github.com/failaware/failaware/timed"
)

// viewsGrow requires that views are later than all before in which the node took part, in
// earlier incarnations and processes, and that the state directory knows them before
// others do.
func viewsGrow(t testing.TB) {
	dir, last := t.TempDir(), uint64(0)
	for range 3 {
		state, err := statedir.Open(dir, statedir.Owner{ID: 1, Group: "a group"}, timed.LAN().MaxLockTime)
		require.NoError(t, err)
		require.NoError(t, state.Begin())
		l, c := newLoop(func(cfg *Config) { cfg.State = state })
		d := l.driver
		for range 2 {
			for d.stack == nil || d.stack.BroadcastState().View() == nil {
				step(l, c)
			}
			sequence := d.stack.BroadcastState().View().ID.Sequence
			require.Greater(t, sequence, last)
			known, err := statedir.FormerViews(dir, 1)
			require.NoError(t, err)
			require.GreaterOrEqual(t, known, sequence)
			last = sequence
			d.restart(life.Suspended, c.instant(), d.clock.era)
		}
		require.NoError(t, state.Close())
	}
}

func TestViewsGrowOverIncarnationsAndProcesses(t *testing.T) { viewsGrow(t) }
