//go:build mutants

package wire

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "internal/wire", map[string]func(testing.TB){
		"LabelsUnchecked": labelsAreChecked,
		"DamageUnseen":    damageIsSeen,
		"WirePieceBeyond": changed,
		"WireWantTurned":  changed,
		"WireNumberWraps": wrapped,
		"WireFillsCut":    listsAtTheirLimits,
		"WireMarksCut":    listsAtTheirLimits,

		"WireAnsweredAfter":  hostileAreRefused,
		"WireMemberTwice":    valuesAreChecked,
		"WireTailOverLength": tailsHaveTheirPlace,
		"WireTreeOfNobody":   treesAreChecked,

		"WireProposalAnswered": valuesAreChecked,

		"SettingsUnchecked": settingsAreChecked,
		"SettingsUnpadded":  settingsHaveOneSize,

		"CollateWithoutStamps": repliesFit,
		"WireSuiteOfBits":      besideTheSuite,
		"WireTailTooLong":      tailsHaveTheirPlace,
	})
}
