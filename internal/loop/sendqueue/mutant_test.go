//go:build mutants

package sendqueue

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "internal/loop/sendqueue", map[string]func(testing.TB){
		"KeepRefusing":          refusalEnds,
		"LanesBorrowAlways":     sharesByWeights,
		"LanesForgive":          sharesByWeights,
		"LanesOweUnasked":       borrowsWhatIsLeft,
		"LanesWaitForEachOther": everyLaneMoves,
		"QueuedTooLate":         waitsBefore,
		"SendGivesUpAlone":      wakesTheNext,
	})
}
