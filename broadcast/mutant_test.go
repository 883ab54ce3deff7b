//go:build mutants

package broadcast

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant"
)

// noticed requires that a check holds, and that it fails with a bug planted.
func noticed(t *testing.T, bug string, holds func() bool) {
	t.Helper()
	defer mutant.Set(mutant.None)
	require.True(t, holds())
	mutant.Set(bug)
	require.False(t, holds())
}

// In a campaign the sender of a lost tail soon becomes the decider itself and orders
// it.
func TestNoTailsIsNoticed(t *testing.T) {
	noticed(t, "BroadcastNoTails", lostTailArrives)
}

// A member whose commit is late has nearly always acknowledged another proposal by
// then.
func TestThawIsNoticed(t *testing.T) {
	noticed(t, "BroadcastThaw", staysFrozen)
}

// Campaigns judge which messages are delivered, not how soon.
func TestARoleThatAlwaysMovesIsNoticed(t *testing.T) {
	noticed(t, "BroadcastRoleAlwaysMoves", decidesAlone)
}

func TestARoleThatAlwaysStaysIsNoticed(t *testing.T) {
	noticed(t, "BroadcastRoleAlwaysStays", func() bool { return decideInTurn(0, 1, 2) })
}

// In a campaign keepalives hide the bug, and the log is hardly ever full.
func TestQuietDecisionsAreNoticed(t *testing.T) {
	noticed(t, "BroadcastQuietDecisions", keepsTheLogMoving)
}

// The moments in which a broken promise matters are too rare in campaigns.
func TestPromiseUnsentIsNoticed(t *testing.T) {
	noticed(t, "BroadcastPromiseUnsent", promiseHolds)
}

// Campaigns have few pauses that are long enough.
func TestAReplacedPromiseIsNoticed(t *testing.T) {
	noticed(t, "BroadcastPromiseReplaced", func() bool { return pauseCutsNothing(t) })
}

func TestAMissingPieceIsNoticed(t *testing.T) {
	noticed(t, "BroadcastPieceMissing", missingPieceHoldsUp)
}

func TestEndlessLendingIsNoticed(t *testing.T) {
	noticed(t, "BroadcastLendEndlessly", func() bool { return lendsWithinBounds(t) })
}

func TestMixedProposalsAreNoticed(t *testing.T) {
	noticed(t, "BroadcastMixProposals", keepsProposalsApart)
}

func TestAForgottenIncarnationIsNoticed(t *testing.T) {
	noticed(t, "BroadcastForgetFull", forgetsSafely)
	noticed(t, "BroadcastShowsLatest", showsAllSent)
}

func TestAnUnknownAbsenceIsNoticed(t *testing.T) {
	noticed(t, "BroadcastBaseOfMembers", func() bool { return deliversOnce(t) })
}

// In a campaign all clocks are soon synchronized with that of the leader.
func TestABelievedClockIsNoticed(t *testing.T) {
	noticed(t, "BroadcastBelieveAnyClock", func() bool {
		_, late := timedFarApart([3]time.Duration{2: -time.Hour})
		return late == 0
	})
}

// No campaign demands an event.
func TestASilentCutIsNoticed(t *testing.T) {
	noticed(t, "BroadcastSilentCut", func() bool { return neverWaitsForTheFuture(t) })
}

// Campaigns find the bug after hundreds of seeds: a leader must get UTC while it leads.
func TestAClockSetBackIsNoticed(t *testing.T) {
	noticed(t, "BroadcastWaitForOneself", func() bool { return followsTheLeaderBack(t) })
}

func TestKeptPromisesAreNoticed(t *testing.T) {
	noticed(t, "BroadcastKeepPromises", func() bool { return recoversFromTheFuture(t) })
}

func TestOneLaneIsNoticed(t *testing.T) {
	noticed(t, "BroadcastOneLane", func() bool { return orderedGetsRoom(t) })
}

func TestSmallMessagesFirstAreNoticed(t *testing.T) {
	noticed(t, "BroadcastSmallFirst", func() bool { return largeGetsRoom(t) })
}

func TestBorrowedRoomIsNoticed(t *testing.T) {
	noticed(t, "BroadcastBorrowAlways", func() bool { return dividesEqually(t) })
}

func TestEndlessClaimsAreNoticed(t *testing.T) {
	noticed(t, "BroadcastClaimForever", forgetsClaims)
}

// A member must leave for another quorum while the others do not notice it.
func TestStrongOfTheViewIsNoticed(t *testing.T) {
	noticed(t, "BroadcastStrongOfTheView", func() bool { return strongNeedsAQuorum(t) })
}

// A campaign does not fill both windows of a member at once.
func TestSharesOfEachClassAreNoticed(t *testing.T) {
	noticed(t, "BroadcastShareOfEachClass", sharesOnce)
}

func TestAWindowThatStaysIsNoticed(t *testing.T) {
	noticed(t, "BroadcastWindowStays", func() bool { return windowMovesOn(t) })
}

func TestEndlessAnswersAreNoticed(t *testing.T) {
	noticed(t, "BroadcastAnswerEndlessly", answersInBounds)
}

// Campaigns are too calm for so many messages of one sender while a view changes.
func TestTwoWindowsAreNoticed(t *testing.T) {
	noticed(t, "BroadcastTwoWindows", holdsFourWindows)
}

// The room of others is only a limit, which campaigns seldom reach.
func TestRepeatedMessagesAreNoticed(t *testing.T) {
	noticed(t, "BroadcastCountAgain", countsOnce)
}

// The members that lack something cannot install the view, and the next one mends it.
func TestDoneOfAnotherPlanIsNoticed(t *testing.T) {
	noticed(t, "BroadcastDoneOfAnyPlan", needsDoneOfItsPlan)
}

// A keepalive comes soon, and campaigns do not judge how soon senders go on.
func TestALateAcknowledgementIsNoticed(t *testing.T) {
	noticed(t, "BroadcastAckLater", acksAtOnce)
}

// In a campaign, what one of these rules lets through is stopped by another.
func TestPlanOfAnyProposalIsNoticed(t *testing.T) {
	noticed(t, "BroadcastPlanOfAnyProposal", followsOnePlan)
}

func TestPlanShortensIsNoticed(t *testing.T) {
	noticed(t, "BroadcastPlanShortens", keepsWhatItHas)
}

func TestInstallsUnequalIsNoticed(t *testing.T) {
	noticed(t, "BroadcastInstallsUnequal", keepsWhatItHas)
}

func TestReportOfAnyBootIsNoticed(t *testing.T) {
	noticed(t, "BroadcastReportOfAnyBoot", reportsCount)
}

// In a campaign the log is hardly ever full, and no quorum is less than half of a view.
func TestAnOverrunLogIsNoticed(t *testing.T) {
	noticed(t, "BroadcastLogOverrun", keepsWithinTheLog)
	noticed(t, "BroadcastDecidesTooFar", decidesWithinTheLog)
}

func TestASmallQuorumIsNoticed(t *testing.T) {
	noticed(t, "BroadcastQuorumSuffices", func() bool { return strongNeedsMost(t) })
}

// In a campaign another view soon ends a flush that hangs.
func TestAFlushThatHangsIsNoticed(t *testing.T) {
	noticed(t, "BroadcastDoneOnce", repeatsDone)
	noticed(t, "BroadcastPlanOnce", repeatsPlan)
}

// The leaders of campaigns send the plans that they make.
func TestAnswersWithoutEndAreNoticed(t *testing.T) {
	noticed(t, "BroadcastAnswersUnknown", answersWhatItKnows)
}

// What lags changes nothing that campaigns judge.
func TestALagWithoutANameIsNoticed(t *testing.T) {
	noticed(t, "BroadcastLagUnnamed", func() bool { return namesWhoLags(t) })
	noticed(t, "BroadcastLackUnnamed", func() bool { return namesWhoseMessagesLack(t) })
}

// Traffic in campaigns leaves the log room.
func TestALogThatFillsUpIsNoticed(t *testing.T) {
	noticed(t, "BroadcastLogFillsUp", func() bool { return timedFillsTheLog(timedWeak, 0) == 0 })
}

func TestFreeingOthersIsNoticed(t *testing.T) {
	noticed(t, "BroadcastFreesOthers", func() bool { return largestFirst() == 0 })
}

func TestAskingTheSourceOnlyIsNoticed(t *testing.T) {
	noticed(t, "BroadcastAsksTheSourceOnly", flushPassesTheSource)
}

// The simulator's network carries any number of packets.
func TestUnpacedFlushesAreNoticed(t *testing.T) {
	for bug, holds := range map[string]func() bool{
		"BroadcastReportAtOnce": func() bool { return paced(t, ofReports) },
		"BroadcastPlanAtOnce":   func() bool { return paced(t, ofPlans) },
		"BroadcastTermsAtOnce":  termsInTurn,
	} {
		t.Run(bug, func(t *testing.T) { noticed(t, bug, holds) })
	}
}
