//go:build mutants

package clockbound

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant"
	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "clocksync/clockbound", map[mutant.ID]func(testing.TB){
		mutant.SegmentNeverOdd:        readersSeeWholeRecords,
		mutant.SegmentWrapsToZero:     generationSkipsZero,
		mutant.SegmentIgnoresSteps:    stepsSpoilMeasurements,
		mutant.SegmentBoundOfTheGuess: boundsHold,
	})
}
