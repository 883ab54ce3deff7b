//go:build mutants

package failaware_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant"
)

func TestAFormerIDIsNoticed(t *testing.T) {
	mutant.Set("FormerIDAgain")
	defer mutant.Set(mutant.None)
	first, next := afterLeaving(t)
	require.Equal(t, first, next)
}
