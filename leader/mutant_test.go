//go:build mutants

package leader

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant"
	"github.com/failaware/failaware/internal/mutant/kill"
)

// These rules show in the simulator only when ids are used twice, settings
// differ, or not at all: they spare others trouble, and no promise rests on them.
func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "leader", map[mutant.ID]func(testing.TB){
		mutant.LockIgnoresBoot:   lockSurvivesRestart,
		mutant.VoteBeyondMaxLock: voteNeeds,
		mutant.VoteForAnybody:    voteByRank,
		mutant.NoGraceAfterStall: listensAfterStall,

		mutant.VoteForOtherQuorum:   oneQuorumSystem,
		mutant.ObjectorsBlockQuorum: quorumIsEnough,
		mutant.VouchWithoutDrift:    answersCount, // the question's delay hides it in the simulator
		mutant.CollateFirst:         firstRoundIsDirect,
		mutant.CollateTheSlow:       slowRoundsAreDirect,
		mutant.RelayedWithoutBound:  relayedInTime,
	})
}
