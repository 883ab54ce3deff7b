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

func TestSearchesNoticeSearchForgotten(t *testing.T) {
	mutant.Set("SearchForgotten")
	defer mutant.Set(mutant.None)
	require.NotZero(t, searchesThatForget(t))
}
