//go:build mutants

package main

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "cmd/failaware", map[string]func(testing.TB){
		"LockOfAnyLead":      otherLeadsRenewNothing,
		"LockDeathAtReport":  outcomesAreOfTheDeath,
		"LockDeathAfterward": deathsAreTimedAtOnce,
		"LockGuardUnseen":    theGuardsKillIsALostLead,
		"LockRenewedLate":    lateRenewalsRenewNothing,
	})
}
