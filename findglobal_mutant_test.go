//go:build mutants

package failaware_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant"
)

func TestGlobalSearchesNoticeLocalPromises(t *testing.T) {
	mutant.Set("GlobalSearchLocal")
	defer mutant.Set(mutant.None)
	exceeds, _ := globalSearches(t)
	require.Positive(t, exceeds)
}
