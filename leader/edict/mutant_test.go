//go:build mutants

package edict

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant"
	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "leader/edict", map[mutant.ID]func(testing.TB){
		mutant.EdictFirstVoter:       contradictions,
		mutant.EdictClockAcrossBoots: asCreated,
		mutant.EdictZeroCounts:       asCreated,
		mutant.EdictCountIgnored:     asCreated,
		mutant.EdictAnyPayload:       payloads,
		mutant.EdictObeyIncomparable: fences,
	})
}
