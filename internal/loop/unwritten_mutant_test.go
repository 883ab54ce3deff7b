//go:build mutants

package loop

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant"
)

func TestUnwrittenNoticesHoldUnwritten(t *testing.T) {
	mutant.Set("HoldUnwritten")
	defer mutant.Set(mutant.None)
	require.NotEmpty(t, heldUnwritten(t))
}
