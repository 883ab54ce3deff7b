//go:build mutants

package statedir

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "internal/loop/statedir", map[string]func(testing.TB){
		"StateForgetsEpoch":     halfAStateIsRefused,
		"EpochWithoutState":     halfAStateIsRefused,
		"EpochUnreadIsNone":     unreadable,
		"EpochListedFirst":      unwrittenEpochIsNotMissed,
		"MembersOfAnother":      members,
		"StateOfAnother":        stateIsThatOfItsModel,
		"EarlierIsLowered":      stateIsThatOfItsModel,
		"AssignedStaysLocked":   refusedIsFree,
		"ConfiguredIDLeftAside": configuredIDs,
		"StateOfAFailedStart":   failedLeavesNothing,
		"EpochOfAFailedStart":   failedLeavesNothing,
		"MembersOfAFailedStart": failedLeavesNothing,
		"OlderEpochAccepted":    olderCopies,
		"PhaseNotNoted":         olderCopies,
		"OlderStateAccepted":    olderCopies,
		"FewerViewsAccepted":    olderCopies,
		"CountersUnnoted":       olderCopies,
		"CountersNotedLate":     countersAreTheLatest,
		"StateHalfWritten":      halfWritten,
		"ReservedHoldsUp":       reservedHoldsNobodyUp,
		"MembersHoldUp":         membersHoldNobodyUp,
		"WrittenAfterAFailure":  countedUnknown,
		"MembersGivenUp":        membersHoldNobodyUp,
		"AcceptedEpochUnnoted":  acceptedIsNoted,
		"GroupUnchecked":        anotherGroupIsRefused,
		"GroupUnnamed":          renamedGoesOn,
	})
}
