//go:build mutants

package epoch

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	worlds := func(world func(uint64) *world) func(testing.TB) {
		return func(t testing.TB) { each(t, world) }
	}
	kill.Units(t, "leader/epoch", map[string]func(testing.TB){
		"ForceForMembersOnly":  forceTakesNewNodes,
		"EpochReasonUnwritten": reasonsAreWritten,
		"EpochVoteWedged":      worlds(rivalry),
		"EpochWedgeBound":      worlds(changes),
		"EpochCountAnyWedge":   worlds(lost),
		"EpochForgetLatest":    worlds(rivalry),
		"EpochNoteOld":         noteOld,
		"EpochFreedByAnyBoot":  returnedByItsOwner,
		"EpochReportUnwritten": worlds(changes),
		"EpochEnterUnwedged":   worlds(changes),

		"RowsOfNodes":   rowsAreOfIncarnations,
		"DeadOfTheLast": allDeadCount,

		"EpochWedgedByWord":   wordsWedgeNobody,
		"EpochReportsMixed":   reportsOfEach,
		"EpochCountsOfOthers": proposalOfAnother,
	})
}
