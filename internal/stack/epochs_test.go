package stack

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/timed"
)

const firstSystem, nextSystem = "majority:1,2,3", "majority:2,3,4"

// notedState returns the state of a voter that has noted a proposal.
func notedState() *epoch.State {
	return &epoch.State{Epoch: 3, System: firstSystem, Phase: epoch.Noted, Next: nextSystem, Edict: edict.Edict{Epoch: 3,
		Stamps: []edict.Stamp{{Node: 1, Counter: 4, Boot: bootOf(1), At: 99}, {Node: 2, Counter: 7, Boot: bootOf(2), At: 5}},
		Digest: edict.Sum(epoch.Proposal(3, nextSystem))}}
}

func TestCheckEpochRefusesImpossibleStates(t *testing.T) {
	require.NoError(t, CheckEpoch(&epoch.State{}))
	require.NoError(t, CheckEpoch(notedState()))
	require.ErrorContains(t, CheckEpoch(&epoch.State{Epoch: 1, System: "all:1"}), "all")
	require.ErrorContains(t, CheckEpoch(&epoch.State{Epoch: 1, System: "majority:2,1"}), `is not in canonical form "majority:1,2"`)
}

func TestAStaticQuorumSystemIsNotReplaced(t *testing.T) {
	s := New(Config{Self: incarnationOf(1), Timing: timed.LAN()}, timed.Set{}, 1, 0)
	require.ErrorIs(t, s.Propose(nextSystem), ErrStatic)
	_, err := s.Force(1, nextSystem, timed.SetOf(1), nil)
	require.ErrorIs(t, err, ErrStatic)
	require.Nil(t, s.Epoch())
}
