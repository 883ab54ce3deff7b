//go:build mutants

package main

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "cmd/failaware", map[string]func(testing.TB){
		"KeysElsewhere":           changesWait,
		"KvProxyDenies":           proxiesAnswer,
		"KvProxyUnavailable":      proxiesAnswer,
		"LockOfAnyLead":           otherLeadsRenewNothing,
		"LockDeathAtReport":       outcomesAreOfTheDeath,
		"LockDeathAfterward":      deathsAreTimedAtOnce,
		"LockDeathWithTheRest":    deathsAreTimedAtOnce,
		"LockDeathWithoutTheRest": deathsAreTimedAtOnce,
		"LockGuardUnseen":         theGuardsKillIsALostLead,
		"LockSignalForgotten":     signalsAreRemembered,
		"LockHangupEnds":          signalsAreRemembered,
		"LockHangupCaught":        ignoredSignalsStayIgnored,
		"LockGuardSilent":         guardsSayFirst,
		"LockGuardDeaf":           guardsLookFirst,
		"LockGuardHeldUp":         guardsReadTheClockFirst,
		"LockRenewedLate":         lateRenewalsRenewNothing,
		"LockStartsLate":          firstHolds,
		"LockOldTiming":           firstHolds,
		"LockGivesUp":             whatPasses,
		"LockResigns":             resigns,
		"LockResignsLost":         overAsItWasAsked,
		"LockResignsUnheard":      resigns,
		"LockGuardAtTheEnd":       holdsBound,
		"LockGuardBehind":         holdsBound,
		"LockRefusedGoesOn":       holdsBound,
		"LockTermOutlives":        lateTermsAreCutShort,
		"LockSleepsAtTerm":        lateTermsAreCutShort,
		"LockSleepsAfterTerm":     lateTermsAreCutShort,
		"LockTermLate":            holdsBound,
		"LockNoTerm":              holdsBound,
		"LockRequestHangs":        renewals,
		"LockRenewsLocal":         renewals,
		"LockRenewsUndrifted":     renewals,
		"LockGraceGenerous":       graceIsLeft,
		"LockSleepUnseen":         sleepsAreReported,
		"LockUnguarded":           guardsAreMissed,
		"LockUnguardable":         guardsAreMissed,
		"LockOfAnyBuild":          buildsDiffer,
		"KvGivesUp":               persists,
		"KvForgetsAttempts":       persists,
	})
}
