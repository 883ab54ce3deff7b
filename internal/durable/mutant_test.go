//go:build mutants

package durable

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant"
	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "internal/durable", map[mutant.ID]func(testing.TB){
		mutant.DurableRenameUnsynced: afterCrash,
		mutant.DurableDirUnsynced:    afterCrash,
	})
}
