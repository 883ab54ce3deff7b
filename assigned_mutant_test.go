//go:build mutants

package failaware_test

import (
	"testing"
	"testing/synctest"

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

func TestAnIDWithoutItsStateIsNoticed(t *testing.T) {
	mutant.Set("ClaimWithoutState")
	defer mutant.Set(mutant.None)
	synctest.Test(t, func(t *testing.T) {
		c := newChoosing(t, 1)
		_, err := c.start(0)
		require.NoError(t, err)
		require.Empty(t, c.states(0))
	})
}
