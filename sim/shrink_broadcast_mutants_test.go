//go:build mutants

package sim

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant"
)

// A failing run with a broadcast shrinks too, with its traffic; what is left can
// be written and read, still fails, and passes without the bug.
func TestShrinkBroadcastMutants(t *testing.T) {
	defer mutant.Set(mutant.None)
	for _, id := range []string{"BroadcastNoFill", "BroadcastForgetAbsent", "BroadcastDeliverFrozen"} {
		t.Run(id, func(t *testing.T) {
			mutant.Set(id)
			opt := Options{Roughness: 4, Duration: 5 * time.Second, Broadcast: &Broadcast{}}
			var c Case
			for seed := uint64(1); c.Seed == 0; seed++ {
				require.Less(t, seed, uint64(500), "the bug survives")
				r, err := Run(seed, opt)
				require.NoError(t, err)
				if r.Violation != nil {
					c, err = CaseOf(seed, opt)
					require.NoError(t, err)
				}
			}
			before, traffic := c, *c.Schedule.Traffic
			small, runs, err := Shrink(context.Background(), c, ShrinkOptions{MaxRuns: 2000})
			require.NoError(t, err)
			was, is := &traffic, small.Schedule.Traffic
			t.Logf("seed %d: %d faults became %d, %d nodes %d, %d kinds of messages %d, in %v, by %d runs: %s %s", c.Seed,
				len(before.Schedule.Faults), len(small.Schedule.Faults), before.Options.Nodes, small.Options.Nodes,
				len(was.Mix), len(is.Mix), small.Options.Duration, runs, small.Check, small.Detail)
			require.LessOrEqual(t, len(is.Mix), len(was.Mix))
			require.Equal(t, was, before.Schedule.Traffic, "what is shrunk is a copy")
			requireSmallCase(t, &small)
		})
	}
}
