//go:build mutants

package leader

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

// In the simulator these rules show only when ids are used twice or settings differ, or
// not at all: no promise rests on them.
func TestMutantsAreKilled(t *testing.T) { kill.Units(t, "leader", notices) }

// notices are the tests that notice the bugs.
var notices = map[string]func(testing.TB){
	"RoundIgnoresTheNew": roundWaitsForTheNew,
	"ForeignForGood":     foreignAnew,
	"HandOverNewer":      newerVotesStay,
	"HandOverYoung":      successorWaits,
	"GlobalRevived":      notRevived,
	"HandedShortened":    newerVotesStay,
	"OwesNothing":        successorOwes,
	"GivenUpVotesKept":   givenUpIsForgotten,
	"ReleaseLateNumber":  releaseOfTheOldLead,
	"QuorumOfTheDead":    forgetsQuorum,
	"SuccessorOfAnyLead": successorOfOneLead,
	"EpochLeadsOn":       endsWithTheEpoch,

	"FormerCountsUnstamped": laterEpochCountsNot,
	"QuorateByOthers":       hearsAQuorum,

	"ForeignAtOnce":        foreignIsTold,
	"ForeignWhileAway":     foreignIsTold,
	"ForeignForNobody":     foreignIsTold,
	"ForeignLeads":         leadsOfOthersAreNotTaken,
	"EpochVotesStay":       endsWithTheEpoch,
	"EpochVoteUnbound":     voteHoldsEpoch,
	"EpochVoteForRivals":   acrossEpochs,
	"AuditForgetsVotes":    audits,
	"AuditOfLeadsOnly":     auditsEpochs,
	"SuccessorRemembered":  namedOnce,
	"CandidateStays":       candidateGivesWay,
	"UnfitAsks":            shortVotes,
	"StampsRepeat":         numbersGrow,
	"RequestsRepeat":       numbersGrow,
	"StepDownForLong":      stepDownEnds,
	"FirstContenderOnly":   passedOver,
	"DeadLeaderIsHeard":    deadLeader,
	"LockIgnoresBoot":      lockSurvivesRestart,
	"VoteBeyondMaxLock":    voteNeeds,
	"VoteForAnybody":       voteByRank,
	"NoGraceAfterStall":    listensAfterStall,
	"LateBlocks":           lateBlocksNothing,
	"LateForEver":          lateEnds,
	"ClaimVotes":           tentativeWaits,
	"GrantShortened":       longestLease,
	"ForgottenReplyCounts": forgotten,

	"DefersNever":          inTurns,
	"DefersTogether":       inTurns,
	"DefersBriefly":        inTurns,
	"DefersForEver":        inTurns,
	"DefersAgain":          waitsOnce,
	"DefersForStrangers":   waitsForNobodyElse,
	"DefersForWorse":       inTurns,
	"DefersForAll":         inTurns,
	"TurnsOfTheVote":       turnsFromTheMiss,
	"TurnsOfTheLapsed":     lapses,
	"LapseUnnoticed":       lapses,
	"LapseTwice":           turnsFromTheMiss,
	"LapseInStrict":        lapses,
	"LapseAsleep":          lapses,
	"LapsedForEver":        turnsFromTheMiss,
	"LapsedByBoot":         turnsFromTheMiss,
	"LapseBehindThePacket": heardAtTheEnd,
	"LapsedWhenHeard":      heardAtTheEnd,
	"LapsedAtItsEnd":       heardAtTheEnd,
	"LapsedContends":       lapses,
	"LapsedFollowers":      lapses,
	"LapsedAwaited":        lapses,
	"LapsedExcuses":        refusalsForTheLapsed,
	"TurnsOfTheMiss":       turnsFromTheMiss,
	"TurnsOfAnyMiss":       turnsFromTheMiss,
	"TurnsOfTheLast":       turnsFromTheMiss,

	"EarlierGlobalRanks":   earlierWord,
	"VoteForOtherQuorum":   oneQuorumSystem,
	"ObjectorsBlockQuorum": quorumIsEnough,
	"VouchWithoutDrift":    answersCount, // the question's delay hides it in the simulator
	"CollateFirst":         firstRoundIsDirect,
	"CollateTheSlow":       slowRoundsAreDirect,
	"RelayedWithoutBound":  relayedInTime,

	"AnswersBindGlobally":  answersBind,
	"AnswersShorten":       laterAnswers,
	"ShortLeaseLate":       renewedInTime,
	"RefusalBesideSupport": lastAnswerCounts,
	"SupportBesideRefusal": lastAnswerCounts,
	"SilentRivalExcused":   silentRival,
	"RefusalsForgotten":    silentRival,
	"StepDownForEver":      stepDownHasAnEnd,
	"GlobalLeaseAtItsEnd":  leaseEndsAtItsEnd,
	"HeirOfOpenVotes":      successorWaits,
	"HeirOwesTheLast":      owesTheLonger,

	"HandedToAnyBoot":      newerVotesStay,
	"HandedAtItsEnd":       handedInTime,
	"RenewalCut":           renewalGoesOn,
	"StepDownBriefly":      stepDownHasAnEnd,
	"StepDownAndAsk":       asksAsContender,
	"AnswersGlobalAsLocal": leaseEndsAtItsEnd,
	"SaysItLeadsStill":     saysWhatIsTrue,
	"VoteForgotten":        forgotten,
	"EpochAsksLater":       asksInTheNewEpoch,
	"NamedForEver":         namedForATime,
	"SettlesDeaf":          tentativeWaits,
	"SuccessorInTime":      namedComesFirst,
	"CollateTheRefuser":    refusersAnswer,
	"ForeignStaysOnTop":    latePackets,
}
