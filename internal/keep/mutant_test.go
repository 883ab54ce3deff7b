//go:build mutants

package keep

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "internal/keep", map[string]func(testing.TB){
		"KeepPartCommitted":   failedSave,
		"KeepUnreadUnchecked": unreadDamage,
		"KeepDamageUntold":    endDamage,
		"KeepPlaceAhead":      keepsPayloads,
		"KeepPlaceBehind":     keepsPayloads,
		"KeepRewritesOften":   seldom,
		"KeepForgetsSize":     seldom,
		"KeepAlwaysSmall":     byDefault,
		"KeepElsewhere":       byDefault,
		"KeepConfirmsUnsaid":  unconfirmed,
		"KeepPayloadsLent":    keepsPayloads,
		"KeepUnreadIsNone":    failedReads,
		"KeepSnapshotsRoom":   failedSnapshot,
		"KeepReplaysUnsaid":   keepsPayloads,
	})
}
