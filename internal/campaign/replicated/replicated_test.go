package replicated

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/sim"
)

func play(t *testing.T, o Options, seeds uint64) map[string]uint64 {
	t.Helper()
	tally, v, err := sim.Campaign{Seeds: seeds, Play: o.Play}.Run(t.Context())
	require.NoError(t, err)
	if v != nil {
		t.Fatal(v)
	}
	return tally.Reached
}

func TestStatesMergeAndAreRestored(t *testing.T) {
	reached := play(t, Options{}, 15)
	require.NotZero(t, reached[Merged])
	require.NotZero(t, reached[Restored])
	require.Zero(t, reached[Lasted], "without quorums nothing is known to last")
}

func TestStatesWithTimedOperations(t *testing.T) {
	require.NotZero(t, play(t, Options{Timed: true}, 15)[Merged])
}

func TestTransfersStartOverWhereLittleMayWait(t *testing.T) {
	reached := play(t, Options{Tight: true}, 15)
	require.NotZero(t, reached[StartedOver])
	require.NotZero(t, reached[Reused])
}

func TestTransfersGoOnInTheNextProcess(t *testing.T) {
	reached := play(t, Options{Disks: true, Parts: true}, 15)
	require.NotZero(t, reached[PartFound])
	require.NotZero(t, reached[PartDamaged])
	require.NotZero(t, reached[Reused])
}

func TestNodesEndThatDoNotTakeAState(t *testing.T) {
	reached := play(t, Options{Limits: true}, 15)
	require.NotZero(t, reached[DeclinedState])
	require.NotZero(t, reached[MissedMerger])
}

func TestStatesOfAQuorumLastAndNeverMerge(t *testing.T) {
	reached := play(t, Options{Quorum: true}, 15)
	require.Zero(t, reached[Merged])
	require.NotZero(t, reached[Restored])
	require.NotZero(t, reached[Passed])
	require.NotZero(t, reached[Leased])
	require.Greater(t, reached[Lasted], reached[Operated]/10)
}

func TestForcedEpochsLoseWhatOnlyTheDeadHad(t *testing.T) {
	reached := play(t, Options{Disks: true, Quorum: true, Change: true, Force: true}, 20)
	require.NotZero(t, reached[Forced])
	require.NotZero(t, reached[LostWithDead])
	require.NotZero(t, reached[Inherited])
}

func TestOperatorsLetSomeMembersGoOn(t *testing.T) {
	reached := play(t, Options{Disks: true, Quorum: true, Wipes: true}, 20)
	require.NotZero(t, reached[Wiped])
	require.NotZero(t, reached[DeclaredApart])
}

func TestSnapshotsThatAreDamagedComeAgain(t *testing.T) {
	reached := play(t, Options{Corrupt: true}, 15)
	require.NotZero(t, reached[Corrupt])
	require.NotZero(t, reached[Restored])
}

// Seeds that broke a promise once.
var regressions = []struct {
	what string
	Options
	seed uint64
}{
	{"a process starts again and meets a sender that does not know that it was ordered", Options{Disks: true}, 584},
	{"a disk has the beginning of a view, under its rank", Options{Disks: true, Quorum: true}, 1253},
	{"a disk has the beginning of a view, under its rank", Options{Disks: true, Quorum: true}, 3511},
	{"a piece of a snapshot overtakes the offer to make it", Options{Disks: true}, 490},
	{"a run ends when the slowest disk has its last operation, and others know it", Options{Disks: true, Damage: true}, 7001012},
}

func TestRegressions(t *testing.T) {
	for _, r := range regressions {
		t.Run(r.what, func(t *testing.T) {
			result, err := r.Play(r.seed, sim.Options{})
			require.NoError(t, err)
			if v := result.Violation; v != nil {
				t.Fatal(v)
			}
		})
	}
}
