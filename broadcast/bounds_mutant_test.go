//go:build mutants

package broadcast

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

// Campaigns hardly ever have members that know of stability what no other along with them does.
func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "broadcast", map[string]func(testing.TB){
		"BroadcastRunsUnlimited":  packetsStayInLimits,
		"BroadcastWantsUnlimited": packetsStayInLimits,
		"BroadcastStrictOfFirst":  endsAsAllKnow,
		"BroadcastNewsOfBoth":     endsQuietly,
		"BroadcastOwnAckHeldBack": endsQuietly,
		"BroadcastUsableWhenHeld": keepsStampsOfTheLeftOut,
		"BroadcastRecallsOne":     recallsAll,
		"LastDecidesUrgency":      oneIsUrgent,
		"BroadcastTailOfTheLast":  latePackets,

		"BroadcastLeavesItselfOut": keepsStampsOfTheLeftOut,
	})
}

// What holds says, a bug turns into the opposite.
func TestBoundsNoticeBugs(t *testing.T) {
	for bug, holds := range map[string]func() bool{
		"BroadcastAnswersEndless": endlessRequests,
		"BroadcastLogOfStrangers": endlessRequests,
		"BroadcastPieceOfOther":   func() bool { return !otherPieces() },
		"BroadcastTermsOfOther":   func() bool { return !otherTerms() },
		"BroadcastRecallLate":     func() bool { return !recalledLate() },
		"BroadcastSlowForgotten":  func() bool { return !slowInTheNextView() },
		"BroadcastLogsEndless":    endlessRequests,
		"BroadcastFillUnasked":    func() bool { return asksForItsFill(t) },
		"BroadcastCutKept":        func() bool { return cutsInEachView(t) },
		"BroadcastReportsKept":    func() bool { return beginsAnew(t) },

		"BroadcastLatestFalls":    func() bool { return keepsItsOrder(t) },
		"BroadcastKnownBeyond":    endsWithItsPlan,
		"BroadcastWantsEndlessly": wantsTwoWindows,
		"BroadcastOwnOfOthers":    takesNothingOfItsOwn,
		"BroadcastNewsLater":      func() bool { return hearsOfStability(t) },
		"BroadcastSlowFlickers":   acksAtOnce,
		"BroadcastAsksInHaste":    waitsWhileItGrows,
		"BroadcastGapKept":        waitsWhileItGrows,
		"BroadcastAsksAnybody":    asksWhoHasIt,
		"BroadcastSmallerClaims":  keepsTheLargestClaim,
		"BroadcastLaneUncounted":  lanesCount,
		"BroadcastAnswersAnyBoot": func() bool { return answersForOneBoot(t) },
		"BroadcastLogInOneTurn":   answersLogsInBounds,

		"BroadcastAtTheFloor":     waitsAtTheFloor,
		"BroadcastCutToTheFloor":  waitsAtTheFloor,
		"BroadcastCutAgain":       cutsOnce,
		"BroadcastStrictByMost":   unorderedWaits,
		"BroadcastAllAlong":       func() bool { return finishesAsAgreed(t) },
		"BroadcastNobodyDecides":  refusesImpossible,
		"BroadcastDoneOfAnyBoot":  needsDoneOfItsPlan,
		"BroadcastAsksOne":        func() bool { return asksOthersToo(t) },
		"BroadcastBacklogOfBytes": countsWhatWaits,

		"BroadcastSentOnce":           func() bool { return sendsAgain(t) },
		"BroadcastDeliveredElsewhere": func() bool { return deliveredHere(t) },
		"BroadcastStopsAtTheBase":     goesOnBehindTheBase,
		"BroadcastOneDeviation":       func() bool { return keepsDeviations(t) },
		"BroadcastShareUncounted":     shareCounts,
		"BroadcastLogOfHave":          keepsWithinTheLog,
		"BroadcastNewsOfMost":         func() bool { return hearsOfStability(t) },
	} {
		t.Run(bug, func(t *testing.T) { noticed(t, bug, holds) })
	}
}
