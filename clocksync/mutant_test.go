//go:build mutants

package clocksync

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) { kill.Units(t, "clocksync", notices) }

// notices are the tests that notice planted bugs.
var notices = map[string]func(testing.TB){
	"DisputeForgetsTheRate": disputeKeepsTheRate,
	"PromiseToTheLatest":    promiseEndsEarly,
	"HoldoverWithoutSlew":   readingsHold,
	"LineOutOfReach":        reachIsKept,
	"LineBendsTooFar":       nobodySays,
	"UTCInvalid":            nobodySays,
	"ForwardedFuture":       nobodySays,
	"LinePromiseShortened":  bendsKeepPromises,
	"ForgetTimelines":       readingsHold,
	"LeaderJumps":           leaderGoesOn,
	"BendForeseenExactly":   bendsComeLate,
	"BendJustOver":          bendsComeLate,
	"ExternalAroundLeap":    leapSecond,
	"SilentFalsetickers":    falsetickerIsNamed,
	"JudgeIgnoresUTC":       heldReadings,
	"FalsetickersStay":      falsetickersExpire,
	"SlewOfTheFollower":     leaderSlewsFaster,
	"HoldoverIgnoresRate":   readingsHold,
	"ContradictedSample":    samplesOfOneSource,
	"CurvesAsLines":         curvesAreNoLines,
	"FewerNeedAMajority":    fewerNeedAsMany,
	"FewerForgetTheLeap":    fewerKnowTheLeap,
	"ReferencesNeverLeave":  retiredReferences,
	"AgeMakesTrue":          smallFalsetickersStay,
	"TooFewJudge":           tooFewAfterProof,
	"FormerProofDefends":    formerProofIsOver,
	"LeapUnnamed":           aLeapSecondIsNamed,
	"FalsetickersSteer":     falsetickersDoNotSteer,
	"DisputesSteer":         falsetickersDoNotSteer,
	"BendAtTheWrongEnd":     bendsAreForeseen,
	"HoldoverIgnoresBend":   holdoverAfterABend,
	"ForwardedAge":          forwardedSamplesAge,
	"ReferenceOfTheRepeat":  forwardedSamplesAge,
	"ReferenceOfTheFirst":   askedLast,
	"FarewellsPushedOut":    alternatingTimelines,
	"LeapWithoutDrift":      leapOnASlowClock,
	"LeaderCombinesLate":    newLeaderKnowsUTC,
	"ExchangeTurned":        exchangesHold,
	"ExchangeBackwards":     exchangesHold,
	"OrderByDeviation":      ordersHold,
	"FalsetickerSteersOn":   samplesCountOnce,
	"SampleCountsAgain":     samplesCountOnce,
	"ForwardsOfOthers":      samplesCountOnce,
	"OldSamplesSteer":       oldSamplesSteerNothing,
	"BendReplaced":          bendsKeepPromises,
	"ForwardsTheNewLate":    forwardsTheNew,
	"ForwardedToAnyBoot":    forwardsTheNew,
	"LeapUnforwarded":       forwardsAll,
	"NewLineOwes":           newLinesOweNothing,
	"EarlierIsNarrower":     earlierReadingsHold,
	"SlewsKeepTheDrift":     slewsDrift,
	"LineOverflows":         linesDoNotOverflow,

	"HoldoverOfTheLongest":  shorterLeaseCounts,
	"SlewIgnoresRate":       slewsToTheMiddle,
	"LeadersDisputeUnheard": disputeOfTheLeader,
	"LeapByTheEarliest":     leapOnASlowClock,
	"OldSamplesFit":         oldSamplesFitNothing,
	"OwnFarewells":          alternatingTimelines,
	"LeapOnlyOfKnownUTC":    leapOfUnknownUTC,
	"LeapOverForwarded":     leapOfUnknownUTC,
	"LeapHeardNotKept":      leapOfUnknownUTC,
	"FewerOverrule":         fewerOverruleNothing,
	"LeapOfTheNextMonth":    announcedLate,
	"LeapEndedByOne":        aheadOfALeap,
	"EarliestOverflows":     boundsDoNotOverflow,
	"UTCOutOfReach":         nobodySays,
}
