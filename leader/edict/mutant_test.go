//go:build mutants

package edict

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "leader/edict", map[string]func(testing.TB){
		"EdictHeldAliased":      keepsCopies,
		"EdictRecalledAliased":  keepsCopies,
		"EdictFirstVoter":       contradictions,
		"EdictClockAcrossBoots": asCreated,
		"EdictZeroCounts":       asCreated,
		"EdictCountIgnored":     asCreated,
		"EdictAnyPayload":       payloads,
		"EdictObeyIncomparable": fences,
	})
}
