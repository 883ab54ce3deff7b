//go:build mutants

package stack

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

// A slow hop or a reply of another incarnation breaks no promise that the simulator
// checks, because a vote stays true however late it comes. They break the rule that a
// supporter is within Δ.
func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "internal/stack", notices)
}

// notices are the tests that notice the bugs.
var notices = map[string]func(testing.TB){
	"AcksWhenDue":           caughtUpIsDue,
	"AuditUnheard":          inconsistentNodesAreSilent,
	"AuditSendsOn":          inconsistentNodesAreSilent,
	"CollateSlowHops":       slowHop,
	"CollateSpares":         sparesNoMember,
	"DistrustReleases":      distrustBeginsNothing,
	"DistrustRequests":      distrustBeginsNothing,
	"HandOverByAnybody":     handedWithTheView,
	"HandOverOnce":          olderBuilds,
	"NothingHanded":         olderBuilds,
	"FormerIsRival":         replacementStays,
	"RefusalUnread":         secondProcessEnds,
	"RefusesSeldom":         secondProcessEnds,
	"WordByOwnPeriod":       restIsQuiet,
	"LateForEver":           lateForEver,
	"LateInTheQueue":        lateLook,
	"LateLeaderDrops":       lateLeader,
	"LateUnnoticed":         lateNodeSaysSo,
	"LateUntold":            lateNodeSaysSo,
	"QuietHurried":          hurriedRequest,
	"QuietLate":             quietIsNotLate,
	"EpochWonTooLate":       wonTooLate,
	"SupportOfTheLocalLead": leadsAreWhole,
	"FormerInAnyEpoch":      spokenToInKind,
	"FormerUnanswered":      spokenToInKind,
	"EpochWedgesAtOnce":     wedgesLater,
	"EpochUntold":           learnsWithRequests,
	"EpochInTheVote":        learnsWithRequests,
	"QuietNews":             quietTellsNothing,
	"QuietSlow":             slowReplies,
	"QuietStranger":         comesAlive,
	"QuietUngathered":       gathers,
	"RelayedOfAnyBoot":      otherBoot,
	"VouchedFromReceipt":    noticesCrash,
	"VouchedForAnotherView": anotherView,
	"SparesNews":            newsGoDirectly,
	"SparesOlderBuilds":     oldBuildHears,
	"SparesOnOldWord":       missingAnswer,
	"OlderVersionByWord":    oneVersion,
	"RelayedRefusalHeard":   relayedRefusal,
	"RefusalRelayed":        directRefusal,
	"RemovedRemembered":     removedIsForgotten,
	"UnnamedQuorum":         unnamedQuorum,
	"OthersContend":         unnamedQuorum,
	"TimersInTheBatch":      batchBeforeTimers,
	"KeepalivesInTheBatch":  keepaliveAfterBatch,
	"VersionsGreetNew":      bothVersionsGreet,
	"VersionsOfTheDead":     otherBuilds,
	"VersionsQuiet":         mixedVersions,
	"HoldGloballyAsLocal":   holdsEndInTime,
	"UntrustedClaims":       claimsNothing,
	"SettledLater":          settlesAtOnce,
	"EpochProposesLater":    proposes,
	"CollatedForAnyBoot":    collatedForTheFormer,
	"RefusesEachTime":       refusesSeldom,
	"StampWithoutFrame":     stampNeedsItsFrame,
	"DeafIsSilent":          deafOrSilent,
	"DistrustHandsOver":     distrustEndsAll,
	"MembersWithoutBoot":    leaseOfOneIncarnation,
	"QuietUnasked":          quietTellsNothing,
	"LateBefore":            timelyIsNotLate,
	"AcceptedIsKnown":       acceptedIsNew,
	"VouchedAhead":          noWordFromTheFuture,
	"WordOfAnyBuild":        wordOfOneBuild,
	"LeavesLoudly":          leavesQuietly,
	"LeftBound":             leavesQuietly,
	"SharedAlone":           stepsOnce,
	"FollowsItself":         holdsEndInTime,
	"CollateForTheDead":     treeOfTheLiving,
	"CollateExpectsAll":     treeOfTheLiving,
	"CollateDropsTheLast":   nextRequestFlushes,
	"CollateSparesNews":     collatedNews,
	"ChallengersVersion":    challengerOfAnotherBuild,
	"LateReplyUnread":       lateReplyTells,
	"LeavesForAWhile":       leavingSaysForHowLong,
	"KeepaliveNotSent":      keepalivesOnDemand,
	"SamplesOfAnotherTime":  votesBringUTC,
}
