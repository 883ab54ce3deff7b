//go:build mutants

package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant"
)

// storedMutants is how many cases of planted bugs are kept at least.
const storedMutants = 8

// The stored case of a planted bug breaks its promise with the bug: a case that
// does not any more guards nothing.
func TestRegressionsOfMutants(t *testing.T) {
	defer mutant.Set(mutant.None)
	planted := map[string]mutant.ID{}
	for id := mutant.ID(1); int(id) < mutant.Count; id++ {
		planted[id.String()] = id
	}
	found := 0
	for _, s := range storedCases(t) {
		id, ok := planted[s.name]
		if !ok {
			continue // it was a bug of the code
		}
		found++
		mutant.Set(id)
		broken := ""
		for i := uint64(0); i < otherNumbers && broken != s.Check; i++ {
			c := s.withSeed(i)
			r, err := c.Run()
			require.NoError(t, err)
			if r.Violation != nil {
				broken = r.Violation.Check
			}
		}
		require.Equal(t, s.Check, broken, "%s: shrink a new case for it (docs/simulation.md)", s.name)
	}
	require.GreaterOrEqual(t, found, storedMutants)
}
