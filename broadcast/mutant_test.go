//go:build mutants

package broadcast

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant"
)

// In a campaign the sender of a lost tail soon decides itself, and orders it.
func TestNoTailsIsNoticed(t *testing.T) {
	defer mutant.Set(mutant.None)
	require.True(t, lostTailArrives())
	mutant.Set(mutant.BroadcastNoTails)
	require.False(t, lostTailArrives())
}

// A member whose proposal's commit is long in coming has nearly always another
// proposal by then.
func TestThawIsNoticed(t *testing.T) {
	defer mutant.Set(mutant.None)
	require.True(t, staysFrozen())
	mutant.Set(mutant.BroadcastThaw)
	require.False(t, staysFrozen())
}

// Campaigns judge what is delivered, not how soon.
func TestARoleThatAlwaysMovesIsNoticed(t *testing.T) {
	defer mutant.Set(mutant.None)
	require.True(t, decidesAlone())
	mutant.Set(mutant.BroadcastRoleAlwaysMoves)
	require.False(t, decidesAlone())
}

func TestARoleThatAlwaysStaysIsNoticed(t *testing.T) {
	defer mutant.Set(mutant.None)
	require.True(t, decideInTurn(0, 1, 2))
	mutant.Set(mutant.BroadcastRoleAlwaysStays)
	require.False(t, decideInTurn(0, 1, 2))
}

// In a campaign keepalives make up for it, and a log is hardly ever full.
func TestQuietDecisionsAreNoticed(t *testing.T) {
	defer mutant.Set(mutant.None)
	require.True(t, keepsTheLogMoving())
	mutant.Set(mutant.BroadcastQuietDecisions)
	require.False(t, keepsTheLogMoving())
}

// The moments in which a broken promise matters are too short for campaigns.
func TestPromiseUnsentIsNoticed(t *testing.T) {
	defer mutant.Set(mutant.None)
	require.True(t, promiseHolds())
	mutant.Set(mutant.BroadcastPromiseUnsent)
	require.False(t, promiseHolds())
}

func TestAMissingPieceIsNoticed(t *testing.T) {
	defer mutant.Set(mutant.None)
	require.True(t, missingPieceHoldsUp())
	mutant.Set(mutant.BroadcastPieceMissing)
	require.False(t, missingPieceHoldsUp())
}

func TestEndlessLendingIsNoticed(t *testing.T) {
	defer mutant.Set(mutant.None)
	require.True(t, lendsWithinBounds(t))
	mutant.Set(mutant.BroadcastLendEndlessly)
	require.False(t, lendsWithinBounds(t))
}

func TestMixedProposalsAreNoticed(t *testing.T) {
	defer mutant.Set(mutant.None)
	require.True(t, keepsProposalsApart())
	mutant.Set(mutant.BroadcastMixProposals)
	require.False(t, keepsProposalsApart())
}
