//go:build mutants

package kill

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant"
)

func TestEveryMutantIsInTheTable(t *testing.T) {
	for id := mutant.ID(1); int(id) < mutant.Count; id++ {
		require.True(t, slices.ContainsFunc(Table, func(k Kill) bool { return k.Mutant == id }), "nothing kills mutant %v", id)
		require.NotEmpty(t, id.Rule(), "mutant %v leaves out no rule", id)
	}
}
