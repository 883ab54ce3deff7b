//go:build mutants

package api

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant"
	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	watch := func(t testing.TB) { watchersKnow(t, 0, 60, false) }
	slow := func(t testing.TB) { watchersKnow(t, 1000, 100, true) }
	kill.Units(t, "internal/api", map[string]func(testing.TB){
		"APIKeepsRequests":    noRequestIsKept,
		"HoldFromTheAnswer":   holdCountsFromTheQuestion,
		"GuardAnyHost":        foreignHostsAreRefused,
		"GuardAnyOrigin":      otherSitesAreRefused,
		"GuardPagesOnly":      onlyPagesNeedNoToken,
		"ClientGivesUp":       closedConnectionsAreMadeAgain,
		"TokenOfOthers":       tokensAreSecret,
		"SlotsOfTheClosed":    slotsAreCounted,
		"SlotsOfTheUnknown":   unknownTakeNoPlace,
		"SocketUntold":        clientsOfTheSocketAreTold,
		"SocketUnlimited":     clientsOfTheSocketAreTold,
		"SocketOpenToAll":     socketsAreClosedToOthers,
		"OutcomeToRepeat":     statusesOfErrors,
		"DeliveriesSkipped":   deliveriesBeginAnew,
		"StreamBeginsAgain":   resumesWhereItWas,
		"SentIsRegular":       outcomesSayAll,
		"StreamIsRegular":     outcomesSayAll,
		"KvListingPlace":      slow,
		"KvListingOfTwo":      listingIsOfOneLine,
		"KvListingResumed":    resumesWhole,
		"KvListingRepeats":    slow,
		"KvAheadIsGone":       watch,
		"KvAheadAdmitted":     watch,
		"KvAheadRefused":      waitsIfNobodyCanTell,
		"KvAheadForEver":      watch,
		"KvAheadIsFresh":      watch,
		"KvListingAborted":    forgetsWhatDidNotCount,
		"ClientCommandsAgain": commandsAreNotPerformedTwice,
		"AnswersCut":          answersAreWhole,

		"SocketOfTheSuccessor": successorsKeepTheirSocket,
		"KvStaleUnsaid":        staleIsSaidFirst,
		"TokenShort":           tokensAreLong,
		"GoneIsTheEnd":         absentIsNoEnd,
		"RenewedIsAnother":     renewedIsTheSame,
		"APIMistakeServed":     mistakesChangeNothing,
	})
}

func TestBodyDripsOnIsNoticed(t *testing.T) {
	mutant.Set("BodyDripsOn")
	defer mutant.Set(mutant.None)
	synctest.Test(t, func(t *testing.T) {
		require.Greater(t, dripped(t, slowRequests["body"]), headerTimeout+time.Second)
	})
}

func TestMistypedVotersAreNoticed(t *testing.T) {
	for _, name := range []string{"VoterUnheardTaken", "MissingUnsaid"} {
		mutant.Set(name)
		defer mutant.Set(mutant.None)
		require.NotEmpty(t, takesTheMistyped(t), name)
	}
}

func TestAConditionIsNoticedThatIsLost(t *testing.T) {
	mutant.Set("KvConditionLost")
	defer mutant.Set(mutant.None)
	_, c := serveStore(t)
	ask[KVWrite](t, c, 200, "POST", "cas", "", "key", "a", "version", "")
}

func TestALongSearchIsNoticed(t *testing.T) {
	mutant.Set("SearchOutlastsClients")
	defer mutant.Set(mutant.None)
	require.GreaterOrEqual(t, searched(t, "/v1/leader/find?global=true"), patience)
}

func TestChangesNoticeEpochUnheard(t *testing.T) {
	mutant.Set("EpochUnheard")
	defer mutant.Set(mutant.None)
	_, err := afterTypo(t, "")
	require.ErrorContains(t, err, "nodes {8 9} have no vote yet", "it asks for less")
}

func TestChangesNoticeEpochUnheardLater(t *testing.T) {
	mutant.Set("EpochUnheardLater")
	defer mutant.Set(mutant.None)
	require.NoError(t, heardByANodeThatComesToLead(t))
}

func TestExpiryNoticesItsBugs(t *testing.T) {
	defer mutant.Set(mutant.None)
	mutant.Set("ExpiredIsKept")
	_, status := expires(t, time.After(time.Second))
	require.Equal(t, http.StatusOK, status)
	mutant.Set("ExpiredFollows")
	ended, _ := expires(t, time.After(time.Second))
	require.False(t, ended)
}
