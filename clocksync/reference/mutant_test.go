//go:build mutants

package reference

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "clocksync/reference", map[string]func(testing.TB){
		"NTPCalmBeforeTheKiss": calmAfterTheKiss,
		"NTPAsksTheRestricted": restrictionIsObeyed,
		"NTPLeavesTheHealthy":  healthyStays,
		"NTPLostWithTheNames":  failedLookupKeeps,
		"NTPLooksUpAlways":     lookupBeginsARow,
		"NTPFailuresAddUp":     failuresInARow,
		"NTPDenialsAddUp":      oldDenialsGo,
		"NTPTriesOnce":         everyAddressGetsItsTries,
		"SampleOverASuspend":   suspended,
	})
}
