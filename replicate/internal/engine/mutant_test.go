//go:build mutants

package engine

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant"
	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) { kill.Units(t, "replicate/internal/engine", notices) }

func places(t testing.TB) { keepsPlaces(t, 200) }

// notices are the tests that notice the bugs.
var notices = map[string]func(testing.TB){
	"StoreContinuesReplaced":   places,
	"StorePositionsUnwritten":  places,
	"StorePositionsLate":       places,
	"StorePositionsTruncated":  places,
	"OutcomesUnlike":           everyCallerHears,
	"OutcomesOfAnyIncarnation": rangesAreLost,
	"StoreFlushedUnmarked":     places,
	"StoreUnnamedLogged":       unnamedStays,
	"ReadBeforeTheDisk":        countsCalls,
	"SpoolHasGaps":             spoolsOn,
	"SpoolBrokenWaits":         func(t testing.TB) { require.Empty(t, brokenSpools(t)) },
	"SpoolCutOff":              spoolCutOff,
	"SpoolSpills":              spillFails,
	"SnapshotUnlimited":        snapshotsAreLimited,
	"SnapshotCutOff":           cutOff,
	"SnapshotLeft":             cutOff,
	"ExtentCountsBatches":      countsCalls,
	"SpoolStays":               leavesNothing,
	"OutcomesRunOn":            forgetsWhole,
	"StoreFullEnds":            snapshotWaits,
	"StoreUnmadeEnds":          unmade,
	"KeepUnmadeAtOnce":         unmade,
	"KeepUnmadeIgnored":        unmade,
	"QuorumLostEnds":           sendsOn,
	"StoreEarlyRecord":         storedInTurn,
	"VerdictForNobody":         heldForCallers,
	"QueueItemOverwritten":     itemsStay,
	"PartGoesWithProcess":      partsStay,
	"PartOfOthers":             partsStay,
	"PartLeftBehind":           partsStay,
	"PartFillsTheDisk":         fullDropsParts,
	"QueueKeepsAll":            itemsStay,
	"VerdictUnstored":          verdictsWait,
	"VerdictOfAnyView":         verdictsWait,
	"VerdictTransitional":      verdictsWait,
	"StoreReplacedUnsaid":      places,
	"StoreLostIsSure":          places,
	"JournalEndUnflushed":      places,
	"StoreReplacedContinued":   lostSnapshot,
	"StoreCountsAnew":          countsOn,
	"KeepFullUnconfirmed":      unconfirmed,
	"StorageOfAnyNode":         strangers,
	"StorageChangesOwner":      strangers,
	"StorageAnyJournal":        func(t testing.TB) { require.Empty(t, copiedLogs(t)) },
	"StorageJournalStays":      takenOver,
	"StorageBeginsAnew":        lostLog,
	"StreamForgetsRemains":     endsWhole,
	"StreamKeepsWaiting":       endsWhole,
	"StoreNotedLate":           notedFirst,
	"StreamForgetsFlushed":     passesAllOn,
	"StreamKeepsBorrowed":      passesAllOn,
	"StreamReadsOn":            endsWhole,
	"BatchBeforeItsView":       stepsTogether,
	"BatchKept":                stepsTogether,
	"EffectsKept":              stepsTogether,
	"VerdictLastsUnsaid":       verdictsWait,
	"InsideOfShallowStacks":    insideCalls,
	"InsideOfAnyEngine":        insideCalls,
	"StoreSavesOutside":        insideDisks,
}

func TestReadingsNoticeReadUnapplied(t *testing.T)   { wrongly(t, "ReadUnapplied", readings) }
func TestReadingsNoticeReadUndelivered(t *testing.T) { wrongly(t, "ReadUndelivered", readings) }
func TestReadingsNoticeReadUnsure(t *testing.T)      { wrongly(t, "ReadUnsure", readings) }
func TestReadingsNoticeReadMovesOn(t *testing.T)     { wrongly(t, "ReadMovesOn", readings) }
func TestReadingsNoticeReadLastFirst(t *testing.T)   { wrongly(t, "ReadLastFirst", readings) }

func TestReadingsNoticeReadWaitsForNothing(t *testing.T) {
	wrongly(t, "ReadWaitsForNothing", readings)
}

func TestChangesNoticeReplacedInAnyEpoch(t *testing.T) {
	wrongly(t, "ReplacedInAnyEpoch", replacedOfItsEpoch)
}

func TestDisksNoticeMergedInPlace(t *testing.T)   { wrongly(t, "StoreMergedInPlace", followed) }
func TestDisksNoticeRestoredInPlace(t *testing.T) { wrongly(t, "StoreRestoredInPlace", followed) }

func TestEndsNoticeEarlierStays(t *testing.T)        { wrongly(t, "EarlierStays", goesOver) }
func TestEndsNoticeEndUndistributed(t *testing.T)    { wrongly(t, "EndUndistributed", goesOver) }
func TestEndsNoticeRestoresUncounted(t *testing.T)   { wrongly(t, "RestoresUncounted", goesOver) }
func TestEndsNoticeStorageEndUntold(t *testing.T)    { wrongly(t, "StorageEndUntold", closesFull) }
func TestSpoolsNoticeStateUnread(t *testing.T)       { wrongly(t, "StateUnread", stateUnread) }
func TestNodesNoticeStorageFailsUnseen(t *testing.T) { wrongly(t, "StorageFailsUnseen", breaks) }
func TestStatusNoticesReceivingFullUntold(t *testing.T) {
	wrongly(t, "ReceivingFullUntold", receivesWithoutRoom)
}
func TestStatusNoticesStorageFullAccepts(t *testing.T) { wrongly(t, "StorageFullAccepts", fills) }

func TestBehindNoticesReplayWaitsOn(t *testing.T) { wrongly(t, "ReplayWaitsOn", miscounted) }

func TestReadersNoticeMergeUnlocked(t *testing.T) { wrongly(t, "MergeUnlocked", seenChanging) }

func TestGatesNoticeGateWantsLate(t *testing.T) {
	wrongly(t, "GateWantsLate", func(t *testing.T) (times int) {
		for range 100 {
			times += unwoken(t)
			if times > 0 {
				break
			}
		}
		return times
	})
}

func TestGatesNoticeGateStarves(t *testing.T)     { wrongly(t, "GateStarves", overlapping) }
func TestGatesNoticeGateNestedWaits(t *testing.T) { wrongly(t, "GateNestedWaits", within) }

// wrongly requires that something goes wrong without a rule.
func wrongly[T any](t *testing.T, id string, wrong func(*testing.T) T) {
	mutant.Set(id)
	defer mutant.Set(mutant.None)
	require.NotEmpty(t, wrong(t))
}

func TestBatchReusedIsNoticed(t *testing.T) {
	mutant.Set("BatchReused")
	defer mutant.Set(mutant.None)
	synctest.Test(t, func(t *testing.T) { require.NotEmpty(t, overwritten(t), "noticed") })
}

func TestHashUnsaidIsNoticed(t *testing.T) {
	mutant.Set("HashUnsaid")
	defer mutant.Set(mutant.None)
	synctest.Test(t, func(t *testing.T) { require.Empty(t, differing(t), "noticed") })
}
