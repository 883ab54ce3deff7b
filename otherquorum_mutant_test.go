//go:build mutants

package failaware_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/mutant"
)

func TestOtherQuorumOnceIsNoticed(t *testing.T) {
	mutant.Set("OtherQuorumOnce")
	defer mutant.Set(mutant.None)
	a, _, _ := otherQuorumsTold(t)
	require.Equal(t, 1, a)
}

func TestOtherQuorumOfTheGoneIsNoticed(t *testing.T) {
	mutant.Set("OtherQuorumOfTheGone")
	defer mutant.Set(mutant.None)
	a, _, alone := otherQuorumsTold(t)
	require.Greater(t, alone, a)
}

func TestFormerVotesAreNoticed(t *testing.T) {
	mutant.Set("FormerCountsUnstamped")
	defer mutant.Set(mutant.None)
	require.Equal(t, []failaware.NodeID{1}, leadersOfALeftEpoch(t))
}
