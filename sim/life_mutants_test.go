//go:build mutants

package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant"
)

func TestLifeRestartsAtOnceIsNoticed(t *testing.T) {
	mutant.Set("LifeRestartsAtOnce")
	defer mutant.Set(mutant.None)
	require.True(t, readyEarly(t))
}
