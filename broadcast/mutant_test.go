//go:build mutants

package broadcast

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant"
)

func TestPromiseUnsentIsNoticed(t *testing.T) {
	defer mutant.Set(mutant.None)
	require.True(t, promiseHolds())
	mutant.Set(mutant.BroadcastPromiseUnsent)
	require.False(t, promiseHolds())
}
