//go:build mutants

package admit

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "internal/admit", map[string]func(testing.TB){
		"AdmitReplays":            packetsComeOnce,
		"AdmitOldPackets":         packetsComeOnce,
		"AdmitForgetsWindows":     incarnationsHaveWindows,
		"AdmitForgetsTheAccepted": acceptedKeepsItsWindow,
		"AdmitMixesWindows":       incarnationsAgainstAModel,
		"AdmitReflects":           noMoreThanCame,
		"AdmitAnyEcho":            anAnswerIsAProof,
		"AdmitCrowdsOut":          oneNodesAddresses,
		"AdmitFloods":             attemptsHaveLimits,
		"AdmitMovesTwice":         addressesLead,
		"AdmitStampsOfAnother":    addressesLead,
		"AdmitAsksStrangers":      addressesLead,
		"AdmitAsksAgain":          addressesLead,

		"AdmitProvesForOthers": anAnswerIsAProof,
	})
}
