//go:build mutants

package clocksync

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant"
	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "clocksync", map[mutant.ID]func(testing.TB){
		mutant.HoldoverWithoutSlew: readingsHold,
		mutant.ForgetTimelines:     readingsHold,
		mutant.LeaderJumps:         leaderGoesOn,
		mutant.BendForeseenExactly: bendsComeLate,
		mutant.ExternalAroundLeap:  leapSecond,
		mutant.SilentFalsetickers:  liarIsNamed,
		mutant.JudgeIgnoresUTC:     heldReadings,
		mutant.HoldoverIgnoresRate: readingsHold,
		mutant.ContradictedSample:  samplesOfOneSource,
		mutant.CurvesAsLines:       curvesAreNoLines,
		mutant.LiarsSteer:          liarsDoNotSteer,
	})
}
