//go:build mutants

package replica

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant"
	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "broadcast/replica", map[mutant.ID]func(testing.TB){
		mutant.ReplicaForgetTentative:  tentative,
		mutant.ReplicaResumeAnything:   piecesOfAnotherSnapshot,
		mutant.ReplicaQueueFromBegin:   laterSnapshot,
		mutant.ReplicaDropEarly:        earlyPiece,
		mutant.ReplicaNoRate:           keepsRate,
		mutant.ReplicaNoWindow:         keepsWindow,
		mutant.ReplicaSilentDivergence: divergenceIsTold,
		mutant.ReplicaAnyHolderFirst:   discardedIsNewer,
	})
}
