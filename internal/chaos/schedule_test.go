package chaos

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestASeedGivesTheSameFaults(t *testing.T) {
	for number := range 50 {
		require.Equal(t, Schedule{7, 5, nil}.Episode(number), Schedule{7, 5, nil}.Episode(number))
	}
	require.NotEqual(t, Schedule{7, 5, nil}.Episode(0).String()+Schedule{7, 5, nil}.Episode(1).String(), Schedule{8, 5, nil}.Episode(0).String()+Schedule{8, 5, nil}.Episode(1).String())
}

// Each round of episodes has all kinds of faults, and what was acknowledged stays on the
// disks of a quorum: one disk at a time is lost or full.
func TestEpisodesAreSound(t *testing.T) {
	for _, nodes := range []int{3, 5} {
		for round := range 2 * killing {
			seen := map[Kind]bool{}
			for place := range mainKinds {
				e := Schedule{1, nodes, nil}.Episode(round*len(mainKinds) + place)
				disks := 0
				for _, f := range e.Faults {
					seen[f.Kind] = true
					requireSound(t, f, nodes)
					switch f.Kind {
					case Full, Wipe, Tear, Rewind, Halve, Doom:
						disks++
					}
				}
				require.LessOrEqual(t, disks, 1, "%v", e)
				require.True(t, e.Faults[0].Kind != Rewind || len(e.Faults) == 1, "%v", e)
			}
			for _, k := range mainKinds {
				require.True(t, seen[k] || (k == KillAll || k == Doom) && round%sparing >= killing, "%v is missing in round %d", k, round)
			}
		}
	}
}

func TestASchedulesKindsCanBeChosen(t *testing.T) {
	for number := range 20 {
		for _, f := range (Schedule{1, 5, []Kind{Wipe, Kill}}).Episode(number).Faults {
			require.Contains(t, []Kind{Wipe, Kill}, f.Kind)
		}
	}
	require.Len(t, Schedule{1, 5, []Kind{Wipe}}.Episode(0).Faults, 1, "there are no extras of it")
	require.NoError(t, checkKinds([]Kind{Wipe, Kill}))
	require.ErrorContains(t, checkKinds([]Kind{Wipe, "flood"}), `"flood"`)
}

func requireSound(t *testing.T, f Fault, nodes int) {
	t.Helper()
	require.LessOrEqual(t, f.At+f.For, 6*time.Second, "%v", f)
	in := map[int]bool{}
	for _, list := range [][]int{f.Nodes, f.Peers} {
		for _, n := range list {
			require.False(t, in[n], "%v", f)
			require.GreaterOrEqual(t, n, 1, "%v", f)
			require.LessOrEqual(t, n, nodes, "%v", f)
			in[n] = true
		}
	}
	switch f.Kind {
	case Kill, Full, Wipe, Tear, Rewind, Halve, Doom:
		require.NotEmpty(t, f.Nodes)
		require.NotContains(t, f.Nodes, nodes, "the last node is spared: %v", f)
	case Epoch:
		require.GreaterOrEqual(t, len(f.Nodes), leastVoters, "%v", f)
	}
}
