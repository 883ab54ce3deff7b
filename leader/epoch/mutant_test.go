//go:build mutants

package epoch

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant"
	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	worlds := func(world func(uint64) *world) func(testing.TB) {
		return func(t testing.TB) { each(t, world) }
	}
	kill.Units(t, "leader/epoch", map[mutant.ID]func(testing.TB){
		mutant.EpochVoteWedged:      worlds(rivalry),
		mutant.EpochWedgeBound:      worlds(changes),
		mutant.EpochCountAnyWedge:   worlds(lost),
		mutant.EpochForgetLatest:    worlds(rivalry),
		mutant.EpochNoteOld:         noteOld,
		mutant.EpochReportUnwritten: worlds(changes),
		mutant.EpochEnterUnwedged:   worlds(changes),
	})
}
