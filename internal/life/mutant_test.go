//go:build mutants

package life

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "internal/life", map[string]func(testing.TB){
		"LifeSleepUnseen":     checks,
		"EpochsBackOff":       quickRestartsBackOff,
		"LifeForgetsVotes":    votesOfAnEarlierProcess,
		"LifeRestartsAtOnce":  restartsBeforeReadiness,
		"LifeWithoutBackoff":  quickRestartsBackOff,
		"LifeBeginsFaulty":    heldBack,
		"LifeForgetsRate":     heldBack,
		"LifeOutgrows":        heldBack,
		"LifeBeforeBirth":     heldBackIsNoLife,
		"LifeSpeaksUnwritten": theEnd,
	})
}
