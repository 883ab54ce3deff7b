//go:build mutants

package kv

import (
	"math/rand/v2"
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) { kill.Units(t, "internal/kv", kills) }

// kills are the tests that must notice the planted bugs.
var kills = map[string]func(testing.TB){
	"KvCasAny":             casNeedsTheVersion,
	"KvRepeats":            appliedOnce,
	"KvEndless":            fullIsRefused,
	"KvMarkless":           versionsOfPartsDiffer,
	"KvLeaseEndsEarly":     leasesNeverEndEarly,
	"KvLateRenewalCuts":    lateRenewals,
	"KvOneTimeline":        leasesBeginAnew,
	"KvAnyCommandMoves":    oldReadings,
	"KvTickUnseen":         unseenRenewals,
	"KvTickBegins":         somewhere,
	"KvRenewalMoves":       strangeRenewals,
	"KvMergerLowers":       ticksOfParts,
	"KvWaitsForEver":       somewhere,
	"KvWaitIsATime":        leasesBeginAnew,
	"KvFormerRulesGone":    formerRules,
	"KvRulesForgotten":     formerRules,
	"KvPlaceUnchecked":     changesFollow,
	"KvMergeForgets":       overwritingIsNoConflict,
	"KvMergeSilent":        somewhere,
	"KvUnprovenOrder":      unprovenIsAConflict,
	"KvClocksFirst":        overwritingIsNoConflict,
	"KvOneBranchKnows":     severalPartsKnow,
	"KvDeletionForgotten":  deletionsMeetWrites,
	"KvExpiryWins":         expiryIsNoWrite,
	"KvResolvedReturns":    resolvedStaysResolved,
	"KvHistoryShared":      changesStay,
	"KvShrinkRefused":      fullIsRefused,
	"KvClockRunsOn":        somehow,
	"KvBaseChain":          somehow,
	"KvPageRepeats":        somehow,
	"KvTrimAnyOrder":       trimmedAlike,
	"KvTrimUnresolved":     conflictsAreBounded,
	"KvVoidLost":           somewhere,
	"KvJoinRenews":         joinsForgetTheSilent,
	"KvSpansForgotten":     refusedIsNoConflict,
	"KvWriterForgotten":    dotsAreBounded,
	"KvConflictBytesDrift": somewhere,
	"KvAttemptTimed":       attemptsAreOne,
	"KvLeaseUnkept":        resultsAreKept,
	"KvDeletionIsEmpty":    nothingIsNoEmptyValue,
	"KvLeaseEndsAtOnce":    leasesEndOneByOne,
	"KvClockTurnsBack":     leasesEndByTheLatestClock,
	"KvDueByTheReading":    leasesEndByTheLatestClock,
	"KvHistoryHasOneMore":  historyIsBounded,
	"KvVoidUnbounded":      fullPartsMeet,
	"KvVoidHasOneMore":     fullPartsMeet,
	"KvMergeUntrimmed":     fullPartsMeet,
	"KvEarlierPlace":       laterPlaceStays,
	"KvHashOfAnyOrder":     hashesTell,
	"KvHashOfShapes":       hashesHaveAll,
	"KvHashEndless":        hashesHaveAll,
	"KvHashDrifts":         hashesHaveAll,
	"KvLeaseOutlivesWrite": leasesEndWithTheirWrite,
	"KvSharedLeaseEnds":    leasesEndWithTheirWrite,
	"KvLeaseEndsBehind":    leasesEndWithTheirWrite,
	"KvDeletionsByKey":     conflictsAreBounded,
	"KvVoidOldest":         appliedOnce,
	"KvConflictsEndless":   conflictBytesAreBounded,
	"KvPageEndless":        pagesAreBounded,
	"KvMergersAlike":       mergersDiffer,
	"KvLastReadingGoes":    lastReadingStays,
	"KvConflictsByWriter":  lastReadingStays,
}

// somewhere plays other worlds in each call, until one fails.
func somewhere(t testing.TB) { worlds(t, rand.Uint64(), 20) }

// somehow plays other lives beside the model in each call, until one fails.
func somehow(t testing.TB) { asTheModel(t, rand.Uint64(), 2) }
