//go:build mutants

package session

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "internal/session", map[string]func(testing.TB){
		"SessionUnkept":        appliesOnce,
		"SessionLostOnTheWay":  mergeRemembersAll,
		"SessionMergeForgets":  mergeRemembersAll,
		"SessionBorrowsBytes":  readAsWritten,
		"SessionResultShared":  sharesNothing,
		"SessionResurrected":   expiredStays,
		"SessionReopened":      expire,
		"SessionOvertakenLost": overtaken,
		"SessionWindowForgets": windowIsBounded,
		"SessionAnyCommand":    anotherCommandIsRefused,
		"SessionResultsGrow":   resultsAreBounded,
		"SessionExpiresNewest": expire,

		"SessionRetryForgotten": retriesAreUses,
		"SessionCountsBack":     countsOn,

		"SessionMergeOverfull": likeNaive,
		"SessionMergedIsFirst": likeNaive,

		"SessionExpiryForgotten": likeNaive,
		"SessionMergeShrinks":    likeNaive,

		"SessionSumsTheBeginning": everyByteCounts,
	})
}
