//go:build mutants

package loop

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) { kill.Units(t, "internal/loop", notices) }

// notices are the tests that notice the bugs.
var notices = map[string]func(testing.TB){
	"DoneFirst":            endsAreHeardLast,
	"PhaseEndsFirst":       endsAreHeardLast,
	"SampleOfAnyEra":       samplesOfAnotherEra,
	"BlamedGoesOn":         takesNoMore,
	"LockLoweredAtBegin":   longVotesStay,
	"SaltOnce":             saltsDiffer,
	"KeysForgedKept":       silentlyDrops,
	"KeysForgetPackets":    silentlyDrops,
	"SendBeforePublish":    usersLook,
	"EventsBeforePublish":  usersLook,
	"ContextWithoutMargin": usersLook,
	"ContextOfAnyLead":     usersLook,
	"TrustLostLate":        usersLook,
	"ResignsAtOnce":        usersLook,
	"ReachAfterPackets":    readersKnow,

	"AnswerToOlderQuestions":   answersReach,
	"HoldOfTheLocalLease":      holdsEnd,
	"RestartUncounted":         eachIsCounted,
	"ViewsUnwritten":           noUnwrittenView,
	"EpochOfTheFirstStart":     epochOutlivesIncarnations,
	"QuestionsOutliveTheClock": noInstantOutlives,
	"ChangeToNobody":           changeToNobody,
	"LoopReceivesLate":         countWhenTheyCame,
	"ClaimsOfTheDead":          nothingClaimedBetween,
	"KeepTrust":                endsOfIncarnations,
	"LifeGoesOnInconsistent":   endsOfIncarnations,
	"FlushUnwritten":           silentAfterAFailedWrite,
	"ViewsUnreserved":          viewsGrow,
	"ViewsForgotten":           viewsGrow,
	"LifeSpeaksUnwritten":      silentAfterAFailedWrite,
	"LifeRestartsAtOnce":       suspendedBeforeTheFirst,
	"LifeEndsOnMismatch":       mismatchEndsNothing,
	"LifeRepeatsMismatch":      mismatchEndsNothing,
	"LoopStrangerUnanswered":   strangersHear,
	"LoopStrangerFlooded":      strangersHear,
	"LoopUnopenedUnbounded":    fewUnopened,
	"GroupUnauthentic":         unsealedAccusesNobody,
	"SettingsToUnproved":       strangersAreTold,
	"SettingsFlood":            strangersAreTold,
	"SettingsAskedForEver":     listedAreAsked,
	"SettingsFromElsewhere":    otherQuorums,
	"SettingsOfOtherVotes":     otherQuorums,
	"SettingsAwaited":          otherQuorums,

	"AdmitReflects":          reflectsNothing,
	"AdmitAnyEcho":           challengesProve,
	"AdmitFloods":            junkIsLimited,
	"AdmitMovesUnproved":     provedAddressesOnly,
	"ChallengesWithFrames":   reflectsNothing,
	"ChallengesShareStamps":  challengesProve,
	"IntroduceOtherLoopback": whoIsGreeted,
	"IntroduceKnownOnly":     unprovedAreGreeted,
	"IntroduceQuietOnly":     introducesBesideBroadcast,
	"JoinTrusts":             candidatesAreNoPeers,
	"JoinForNobody":          greetingsHaveDestinations,
	"JoinOnce":               candidatesOfEach,
	"ForeignUnlimited":       foreignIsLimited,
	"RivalOfTheEarlierClock": noInstantOutlives,
	"ShownOfAnyTimeline":     shownInATimeline,
	"MeetTrusts":             meetsOnly,
	"ClaimUnwritten":         claimsKeepFirst,
	"ClaimDeaf":              rivals,
	"ClaimLateDuel":          rivals,
	"ClaimBothGiveWay":       rivals,
	"GreetingUnanswered":     greetingsAreAnswered,
	"GoneStays":              forgetsGone,
	"GoneIntroduced":         forgetsGone,
	"GoneLate":               forgetsGone,
	"KeysReplayed":           silentlyDrops,
	"KeysOpenToAll":          silentlyDrops,
}
