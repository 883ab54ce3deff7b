//go:build mutants

package ntpserver

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant"
	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "clocksync/ntpserver", map[mutant.ID]func(testing.TB){
		mutant.NTPAlwaysSynchronized: whoIsNotExternalSaysSo,
		mutant.NTPRoundsDown:         dispersionCoversTheBound,
		mutant.NTPAnswersAnything:    onlyClientsAreAnswered,
		mutant.NTPWithoutLimit:       sourcesKeepTheirLimit,
	})
}
