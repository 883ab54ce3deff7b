//go:build mutants

package sim

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant"
	"github.com/failaware/failaware/internal/mutant/planted"
)

// storedMutants is how many cases of planted bugs are kept at least.
const storedMutants = 8

// The stored case of a planted bug breaks its promise with the bug: a case that
// does not any more guards nothing.
func TestRegressionsOfMutants(t *testing.T) {
	defer mutant.Set(mutant.None)
	found := 0
	for _, s := range storedCases(t) {
		if !slices.ContainsFunc(planted.All(), func(m *planted.Mutant) bool { return m.Name == s.name }) {
			continue // it was a bug of the code
		}
		found++
		mutant.SetUnaudited(s.name)
		broken := ""
		for i := uint64(0); i < otherNumbers && broken != s.Check; i++ {
			c := s.withSeed(i)
			r, err := c.Run()
			require.NoError(t, err)
			if r.Violation != nil {
				broken = r.Violation.Check
			}
		}
		require.Equal(t, s.Check, broken, "%s: shrink a new case for it (docs/internals/simulation.md)", s.name)
	}
	require.GreaterOrEqual(t, found, storedMutants)
}
