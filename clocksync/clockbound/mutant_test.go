//go:build mutants

package clockbound

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "clocksync/clockbound", map[string]func(testing.TB){
		"SegmentReadAfterTheClocks": recordBeforeClocks,
		"SegmentNeverOdd":           readersSeeWholeRecords,
		"SegmentWrapsToZero":        generationSkipsZero,
		"SegmentIgnoresSteps":       stepsSpoilMeasurements,
		"SegmentBoundOfTheGuess":    boundsHold,
		"SegmentAgeBeforeTime":      readersAreRight,
		"SegmentReadLate":           readersAreRight,
	})
}
