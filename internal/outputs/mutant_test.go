//go:build mutants

package outputs

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "internal/outputs", map[string]func(testing.TB){
		"OutputsLeaveOne": failedStartLeavesNothing,
		"ServedDeviation": programsLook,
		"ServedInternal":  programsLook,
	})
}
