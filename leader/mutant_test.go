//go:build mutants

package leader

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

// These rules show in the simulator only when ids are used twice, settings
// differ, or not at all: they spare others trouble, and no promise rests on them.
func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "leader", map[string]func(testing.TB){
		"LockIgnoresBoot":   lockSurvivesRestart,
		"VoteBeyondMaxLock": voteNeeds,
		"VoteForAnybody":    voteByRank,
		"NoGraceAfterStall": listensAfterStall,

		"VoteForOtherQuorum":   oneQuorumSystem,
		"ObjectorsBlockQuorum": quorumIsEnough,
		"VouchWithoutDrift":    answersCount, // the question's delay hides it in the simulator
		"CollateFirst":         firstRoundIsDirect,
		"CollateTheSlow":       slowRoundsAreDirect,
		"RelayedWithoutBound":  relayedInTime,
	})
}
