//go:build mutants

package claim

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "internal/claim", map[string]func(testing.TB){
		"ClaimAtOnce":      aloneLate,
		"ClaimUnsettled":   settles,
		"ClaimHurries":     settles,
		"ClaimOutvotes":    oneIsEnough,
		"ClaimUsed":        choosesFree,
		"DuelInCompany":    oneGivesWay,
		"DuelOfTheSettled": newcomersGiveWay,
		"DuelGoesOn":       companyEndsIt,
		"DuelAgesByJumps":  youngOnAnotherClock,
	})
}
