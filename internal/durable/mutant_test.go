//go:build mutants

package durable

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "internal/durable", map[string]func(testing.TB){
		"DurableRenameUnsynced": afterCrash,
		"DurableDirUnsynced":    afterCrash,
		"DurableNameTriedAgain": fullIsUnchanged,
		"DurableMadeUnsynced":   directoriesAreFlushed,
		"DurableFoundUnsynced":  directoriesAreFlushed,
		"DurableReadUnsynced":   foundIsFlushed,
		"DurableKeepsTheRest":   crashLeavesMore,
		"CreationNameUnsynced":  createdIsWhole,
		"CreationReplaces":      replacesNothing,
		"RemovalUnsynced":       removedStaysAway,
		"RemovalOfNothing":      removedEarlier,
		"DurableNamesUnasked":   flushIsAsked,
		"LockFileRemoved":       rivals,
		"DurableLeftInTheWay":   replacedAfterACrash,
	})
}
