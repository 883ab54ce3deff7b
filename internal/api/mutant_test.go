//go:build mutants

package api

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "internal/api", map[string]func(testing.TB){
		"HoldFromTheAnswer": holdCountsFromTheQuestion,
		"GuardAnyHost":      foreignHostsAreRefused,
		"GuardAnyOrigin":    otherSitesAreRefused,
		"GuardPagesOnly":    onlyPagesNeedNoToken,
	})
}
