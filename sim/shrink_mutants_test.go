//go:build mutants

package sim

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant"
)

// A failing run of hundreds of faults shrinks to a handful, which still breaks
// the same promise, can be written and read, and passes without the bug.
func TestShrinkMutants(t *testing.T) {
	defer mutant.Set(mutant.None)
	for _, id := range []string{"ReleaseWithoutWait", "KeepFlagOnAck", "VoteTwice", "LeaseWithoutDrift",
		"CommitWithoutAcks", "ClockNoHalfWidth"} {
		t.Run(id, func(t *testing.T) {
			mutant.Set(id)
			var c Case
			for seed := uint64(1); c.Seed == 0; seed++ {
				r, err := Run(seed, Options{Roughness: 4})
				require.NoError(t, err)
				require.Less(t, seed, uint64(2000), "the bug survives")
				if r.Violation != nil {
					c, err = CaseOf(seed, Options{Roughness: 4})
					require.NoError(t, err)
				}
			}
			before := len(c.Schedule.Faults)
			small, runs, err := Shrink(context.Background(), c, ShrinkOptions{})
			require.NoError(t, err)
			t.Logf("seed %d: %d faults became %d, of %d nodes, in %v, by %d runs: %s %s", c.Seed, before,
				len(small.Schedule.Faults), small.Options.Nodes, small.Options.Duration, runs, small.Check, small.Detail)
			requireSmallCase(t, &small)
		})
	}
}

// requireSmallCase demands that a case is small, that it breaks its promise again
// when it has been written and read, and that it does so because of the bug that
// is planted now.
func requireSmallCase(t *testing.T, c *Case) {
	t.Helper()
	require.LessOrEqual(t, len(c.Schedule.Faults), 20)
	var b bytes.Buffer
	require.NoError(t, c.Write(&b))
	read, err := ReadCase(&b)
	require.NoError(t, err)
	r, err := read.Run()
	require.NoError(t, err)
	require.NotNil(t, r.Violation)
	require.Equal(t, c.Check, r.Violation.Check)
	mutant.Set(mutant.None)
	r, err = read.Run()
	require.NoError(t, err)
	require.Nil(t, r.Violation)
}
