//go:build mutants

package datagram

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant"
	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "datagram", map[string]func(testing.TB){
		"RelearnKeepsStamps":  jumpedBack,
		"OldHearing":          overtakenHearing,
		"EqualStampIsOld":     aliveByTheLast,
		"LateRefusals":        refusalsWithoutRival,
		"SuspicionRemembered": suspicionEnds,
		"RefusersAccept":      eachCountsOnce,
		"AnyRival":            refusalsWithoutRival,
		"RefusalOutlivesPeer": removedRefuseNothing,
		"PassedOnOfAnyBoot":   passedOnOfTheFormer,
		"NoClockFault":        impossibleBound,

		"WordForTheDeaf":       deafPeer,
		"SparesTheDeaf":        deafPeer,
		"BoundBelowLeast":      coarseBound,
		"DirectEndsIndirect":   directAfterIndirect,
		"UnprovenTakesPlace":   unprovenPairs,
		"SentBeforeByUnproven": unprovenPairs,
		"FaultForEver":         wrongPairsHeal,
		"RelearnOldPairs":      boundsHoldAgain,
		"SeparationCut":        outlastsVotes,
		"RelearnOnce":          jumpsOften,
		"DistrustHeardOnce":    jumpsOften,
		"OffsetOfDistrusted":   jumpsOften,
		"RelearnUnproven":      boundsHoldAgain,
		"SilentDistrust":       wrongPairsHeal,
		"TwinsAtOnce":          oneConflictHeals,
		"RivalByLatePackets":   restartsAreNoRivals,
		"RivalOfAnyEcho":       restartsAreNoRivals,
		"RivalWithoutWait":     sentBeforeAndAfter,
		"RivalUnseen":          sentBeforeAndAfter,
		"RivalWithoutDrift":    rivalWaitsForDrift,
		"ChallengeOvertaken":   overtakenChallenge,

		"ChallengerUnproven": challengerCounts,
		"LastFastSetBack":    newestStays,
		"TwinsBlameClocks":   twinsAreTrusted,
		"TwinsAreFaults":     twinsAreNoFault,
		"SentAfterReceipt":   sentBeforeReceipt,

		"AcceptedForEver":  oldAnswersCountNothing,
		"OldRefusalsAddUp": oldAnswersCountNothing,
		"EchoDiverted":     echoOfTheLiving,
		"EchoOfNothing":    twinsAreTrusted,
		"ChallengersMixed": challengersApart,
		"NewPeerWaits":     greetsAtOnce,

		"EchoOfTheFuture":    echoOfTheFuture,
		"SilentCountAsHeard": silentPeersSayNothing,
		"WordAcrossAFault":   wordAcrossAFault,
		"ContradictionAged":  contradictionAfterSilence,
		"FaultsCountForEver": contradictionAfterSilence,
	})
}

// The encounters must notice a bound without drift, a bound without the sign rule for
// overtaken packets, and offsets that do not age.
func TestWrongBoundsAreNoticed(t *testing.T) {
	for _, id := range []string{"DelayWithoutG", "DelayWithoutDrift", "OffsetWithoutAgeing"} {
		mutant.Set(id)
		var err error
		for seed := 0; seed < 400 && err == nil; seed++ {
			err = drawEncounter.Example(seed).play(&seen{})
		}
		mutant.Set(mutant.None)
		require.Error(t, err, "%v", id)
		t.Log(err)
	}
}
