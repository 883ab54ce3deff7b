//go:build mutants

package clockbound

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant"
)

func TestAForgottenSlewIsNoticed(t *testing.T) {
	mutant.Set("SegmentWithoutSlew")
	defer mutant.Set(mutant.None)
	require.Less(t, driftOfSegment(t), driftOf(100_000, DefaultSlew))
}
