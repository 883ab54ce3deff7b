//go:build mutants

package engine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant"
	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	places := func(t testing.TB) { keepsPlaces(t, 200) }
	kill.Units(t, "replicate/internal/engine", map[string]func(testing.TB){
		"StoreContinuesReplaced":  places,
		"StorePositionsUnwritten": places,
		"StorePositionsLate":      places,
		"StorePositionsTruncated": places,
		"StoreFullEnds":           snapshotWaits,
		"StoreEarlyRecord":        storedInTurn,
		"VerdictUnstored":         verdictsWait,
		"VerdictOfAnyView":        verdictsWait,
		"VerdictTransitional":     verdictsWait,
		"StoreReplacedUnsaid":     places,
		"StoreLostIsSure":         places,
		"JournalEndUnflushed":     places,
		"StoreReplacedContinued":  lostSnapshot,
		"StoreCountsAnew":         countsOn,
		"KeepFullUnconfirmed":     unconfirmed,
		"StorageOfAnyNode":        strangers,
		"StorageChangesOwner":     strangers,
		"StreamForgetsRemains":    endsWhole,
		"StreamKeepsWaiting":      endsWhole,
	})
}

func TestReadingsNoticeReadUnapplied(t *testing.T)   { readWrongly(t, "ReadUnapplied") }
func TestReadingsNoticeReadUndelivered(t *testing.T) { readWrongly(t, "ReadUndelivered") }
func TestReadingsNoticeReadUnsure(t *testing.T)      { readWrongly(t, "ReadUnsure") }
func TestReadingsNoticeReadMovesOn(t *testing.T)     { readWrongly(t, "ReadMovesOn") }

func TestReadingsNoticeReadWaitsForNothing(t *testing.T) { readWrongly(t, "ReadWaitsForNothing") }

// readWrongly wants the readings to go wrong without a rule.
func TestReadingsNoticeReadLastFirst(t *testing.T) { readWrongly(t, "ReadLastFirst") }

func readWrongly(t *testing.T, id string) {
	mutant.Set(id)
	defer mutant.Set(mutant.None)
	require.NotEmpty(t, readings(t))
}

func TestDisksNoticeMergedInPlace(t *testing.T)   { followWrongly(t, "StoreMergedInPlace") }
func TestDisksNoticeRestoredInPlace(t *testing.T) { followWrongly(t, "StoreRestoredInPlace") }

func followWrongly(t *testing.T, id string) {
	mutant.Set(id)
	defer mutant.Set(mutant.None)
	require.NotEmpty(t, followed(t))
}
