//go:build mutants

package journal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant"
	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) { kill.Units(t, "internal/journal", notices) }

func power(t testing.TB) { keepsWithoutPower(t, 200) }

// notices are the tests that notice the bugs.
var notices = map[string]func(testing.TB){
	"JournalUnflushed":           power,
	"JournalOpensUnflushedNames": unflushedNames,
	"JournalOpenUnflushed":       power,
	"JournalRotateUnflushed":     power,
	"JournalHeaderUnflushed":     power,
	"JournalNameUnflushed":       power,
	"JournalStateUnflushed":      power,
	"JournalFaultIsTheEnd":       noDamageIsSilent,
	"JournalHeadCut":             headsAreFound,
	"JournalGapAccepted":         noDamageIsSilent,
	"JournalUnchained":           copiesAreNotMixed,
	"JournalBatchUnchecked":      noDamageIsSilent,
	"JournalCutStays":            cutsStay,
	"JournalGoesOn":              staysFailed,
	"JournalEndSkipped":          endsOnFullDisks,
	"JournalEndForgotten":        endsAfterCrashes,
	"JournalEndUnflushed":        endsWithoutPower,
	"JournalEndNotRetried":       endsOnceThereIsRoom,
	"JournalRemovesUnchecked":    damageRemovesNothing,
	"JournalDropsTooMuch":        snapshotsAnywhere,
	"JournalMixedUnnamed":        olderCopiesAreNamed,
	"JournalOfAnother":           journalsAreNotMixed,
	"JournalEndFaultUntold":      oneFailedFlush,
	"JournalCloseDropsWaiting":   closesInOrder,
	"JournalShorterThanSnapshot": noneBehindSnapshots,
	"JournalNeedsAllRoom":        opensOnFullDisks,
	"JournalKeepsCovered":        snapshotsAnywhere,
	"JournalKeepsWhatACrashLeft": snapshotsAnywhere,
	"JournalSnapshotAhead":       snapshotsOfRecords,
	"JournalStateGoesOn":         nothingFollowsSnapshots,
	"JournalMarkTwice":           marksOnce,
	"JournalMarkFaultForgotten":  marksOnce,
	"JournalUnmarked":            marksOnce,
	"JournalFaultyReadIsTheEnd":  readsFail,
	"JournalReplaysLess":         changesBehindTheLook,
	"JournalTailUnread":          readsFail,
	"JournalNameFaultUntold":     oneCallFails,
	"JournalStateFaultUntold":    oneCallFails,
	"JournalPieceFaultHidden":    oneCallFails,
	"JournalOpenFaultUntold":     oneFailsAtStart,
	"JournalBelievesMemory":      oneCallFails,
	"JournalBelievesFull":        fullAtStart,
	"JournalCutsFull":            fullAtStart,
	"JournalPieceUnchecked":      piecesAreChecked,
	"JournalListCutShort":        readsFail,
	"SystemListCutShort":         systemRefuses,
	"SystemFullIsAFault":         fullSystem,
	"SystemFlushTriedAgain":      failedFlushes,
	"JournalFlushUnasked":        systemRefuses,
	"JournalQuotaIsAFault":       fullSystem,
	"JournalExhaustedIsAFault":   exhaustedSystem,
	"JournalSegmentReopened":     exhaustedRotation,
	"JournalStateLeft":           crampedSnapshots,
	"JournalUselessForgotten":    uselessStay,
	"JournalRemovesOthers":       leavesOtherFiles,
	"JournalLockKept":            oneOwner,
}

func TestCallersNoticeWriterKeepsCallers(t *testing.T) {
	mutant.Set("WriterKeepsCallers")
	defer mutant.Set(mutant.None)
	require.Positive(t, waitForEver(t))
}

func TestIdleMarksNoticeTheirBugs(t *testing.T) {
	defer mutant.Set(mutant.None)
	for _, name := range []string{"WriterMarksBetween", "WriterUnmarked"} {
		mutant.Set(name)
		require.NotEqual(t, [2]int{3, 5}, idleMarks(t), name)
	}
}
