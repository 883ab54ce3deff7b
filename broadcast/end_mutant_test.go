//go:build mutants

package broadcast

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant"
)

func TestEndNoticesBroadcastRemainsLost(t *testing.T) {
	mutant.Set("BroadcastRemainsLost")
	defer mutant.Set(mutant.None)
	require.Empty(t, remains(t))
}

func TestRecallOrderedNoticesBroadcastOrderedForgotten(t *testing.T) {
	mutant.Set("BroadcastOrderedForgotten")
	defer mutant.Set(mutant.None)
	require.Empty(t, again(t))
}
