//go:build mutants

package replica

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) { kill.Units(t, "internal/replica", notices) }

// notices are the tests that notice the bugs.
var notices = map[string]func(testing.TB){
	"ReplicaHoldsOfAnyView":   holdersOfTheView,
	"ReplicaForgetTentative":  tentative,
	"ReplicaFullUnsettled":    fullAtOnce,
	"ReplicaLabelOfTheWay":    skippedView,
	"ReplicaFlushedLabelled":  flushedIsNoPrefix,
	"ReplicaWaitingLost":      waitsInOrder,
	"ReplicaMemoryUncounted":  waitsInFiles,
	"ReplicaResumeAnything":   piecesOfAnotherSnapshot,
	"ReplicaQueueFromBegin":   laterSnapshot,
	"ReplicaDropEarly":        earlyPiece,
	"ReplicaNoRate":           keepsRate,
	"ReplicaNoWindow":         keepsWindow,
	"ReplicaSilentDivergence": divergenceIsTold,
	"ReplicaAnyHolderFirst":   discardedIsNewer,
	"StoreSomeDisks":          lastsOnDisks,
	"StoreLastsTooSoon":       lastsOnDisks,
	"StoreMixed":              mixedStorage,
	"StoreNewcomerStays":      mixedStorage,
	"StoreLonerStays":         mixedLoner,
	"StoreHolderWithdraws":    mixedStates,
	"StoreBeginnerWithdraws":  mixedBeginning,
	"ReplicaPendingLasts":     lastingNeedsAQuorum,

	"ReplicaRankUnheld":           unheldIsNoNewer,
	"ReplicaPromiseForgotten":     ranksGrow,
	"ReplicaRefuseForEver":        refusalEnds,
	"ReplicaDigestUnchecked":      damagedComesAgain,
	"ReplicaContinueTooFar":       transferFromAnother,
	"ReplicaNoRest":               leavesRoom,
	"ReplicaSpareForgotten":       sendsTheRest,
	"ReplicaBlockMissed":          spareIsGone,
	"ReplicaBlockInsistedOn":      spareIsGone,
	"ReplicaAnyRest":              leavesRoom,
	"ReplicaEndsAtOnce":           leavesRoom,
	"ReplicaSnapshotFree":         leavesRoom,
	"ReplicaRestsForever":         restsEnd,
	"ReplicaPieceLost":            roomComesLate,
	"ReplicaHoldersOfAnotherView": lastingNeedsAQuorum,
	"ReplicaForgetfulCounts":      forgetfulQuorum,
	"ReplicaWaitingRemembers":     newcomerCounts,
	"ReplicaForgetMemory":         renewedCounts,
	"StorePlaceWithoutPosition":   placeInTheMiddle,
	"StorePositionsSkipped":       positionsInTheMiddle,
	"StoreBaseForgotten":          positionsOfOthers,
	"StoreUnsettledUnplaced":      placeOfAnUnsettledView,
	"StoreTentativeIsNewer":       tentativeIsOlder,
	"ReplicaForgetEarlier":        aloneKeeps,
	"ReplicaContinuesAwaited":     awaitedIsNotContinued,
	"ReplicaEarlierUnnamed":       earlierIsABranch,
	"ReplicaAnyPositionIncludes":  earlierIsABranch,
	"ReplicaContinuesMore":        namedInTheMiddle,
	"ReplicaEndKept":              anyHistory,
	"ReplicaMatesStay":            anyHistory,
	"ReplicaNamedByMarker":        namedInTheMiddle,
	"StorePlaceOfAnyView":         placeInTheNextView,
	"ReplicaFlushedIncludes":      flushedIsNoPrefix,
	"ReplicaFlushedNamed":         flushedIsNamed,
	"ReplicaPlaceTooLate":         anyHistory,
	"ReplicaHoldsEndlessly":       anyHistory,
	"ReplicaAnyDigestGot":         gotOfAnother,
	"ReplicaRankOfTheLast":        rankOfAnyMember,
	"StoreOwnDiskCounts":          ownDiskSaysSo,
	"ReplicaEarlierIsABranch":     sharedEnds,
	"ReplicaAnyPositionIsNewest":  sharedEnds,
	"ReplicaUncounted":            anyHistory,
	"ReplicaRefusedStandby":       anyHistory,
	"ReplicaAskedTwice":           anyHistory,
	"ReplicaAnySize":              tooLarge,
	"ReplicaBlocksEndless":        tooLarge,
	"ReplicaChecksTheOldest":      laterChecks,

	"EraFormerUnasked": bothSystemsCount,
	"EraSkipped":       epochsAreNotSkipped,
	"EraMixed":         epochsDoNotMix,
	"EraOfTheAwaited":  waiterIsOfItsOwnEra,
	"EraReplacedEarly": replacedOnceSettled,

	"ReplicaReadyOfAnyView": foreignWords,
}
