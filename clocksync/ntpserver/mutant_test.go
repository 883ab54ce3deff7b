//go:build mutants

package ntpserver

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "clocksync/ntpserver", map[string]func(testing.TB){
		"NTPAlwaysSynchronized": onlyExternalIsSynchronized,
		"NTPRoundsDown":         dispersionCoversTheBound,
		"NTPAnswersAnything":    onlyClientsAreAnswered,
		"NTPWithoutLimit":       sourcesKeepTheirLimit,
		"NTPKissesUncounted":    kissesCount,
		"NTPEvictsTheFull":      emptiestGoes,
		"NTPAnswersStale":       waitsCount,
		"NTPForgetsTheWait":     waitsCount,
	})
}
