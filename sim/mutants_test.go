//go:build mutants

package sim

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant"
	"github.com/failaware/failaware/leader"
)

// A kill says which check notices a planted bug, in which kind of world, within
// how many seeds. Without the bug the same seeds must pass.
type kill struct {
	id    mutant.ID
	play  func(uint64, Options) error
	opt   Options
	check string // "" for scenarios, which have one check
	seeds uint64
}

var (
	rough       = Options{Roughness: 4}
	roughStrict = Options{Roughness: 4, Mode: leader.Strict}
	strictByID  = Options{Roughness: 4, Mode: leader.Strict, RankBy: leader.ByID}
	many        = Options{Roughness: 4, Nodes: 7}
	gentle      = Options{Duration: time.Minute}
)

var kills = []kill{
	{mutant.DelayWithoutG, campaign, rough, "delay", 400},
	{mutant.DelayWithoutDrift, campaign, rough, "delay", 400},
	{mutant.AliveWithoutHeard, campaign, rough, "alive", 400},
	{mutant.NotReadySaysHeard, campaign, rough, "ready", 400},
	{mutant.NotReadySaysHeard, restartedFollower, gentle, "ready", 5},
	{mutant.AcceptWithoutEcho, campaign, rough, "accept", 400},
	{mutant.KeepPairsOverBoot, campaign, rough, "", 400},

	{mutant.ReleaseWithoutWait, campaign, rough, "M4", 400},
	{mutant.ReleaseOnFailedRenew, campaign, roughStrict, "", 400},
	{mutant.KeepSupportOnRelease, campaign, roughStrict, "", 400},
	{mutant.ReleaseLateNumber, campaign, roughStrict, "SO", 1000},
	{mutant.RequestNotReady, campaign, roughStrict, "", 400},
	{mutant.NoMergeExcuse, mergeKeepsWinner, gentle, "", 20},
	{mutant.NoRoundAfterSilence, oneLostPacket, gentle, "", 20},
	{mutant.ExcuseTheDead, excuseOutOfHearing, gentle, "", 20},
	{mutant.OldStates, campaign, rough, "", 1000},
	{mutant.AnswersToOthers, lateFromTheDead, gentle, "", 50},
	{mutant.NoLockedElsewhere, topology, gentle, "4'", 100},
	{mutant.LeaseWithoutDrift, campaign, rough, "SO", 400},
	{mutant.SlowElections, campaign, rough, "", 400},
	{mutant.VoteTwice, campaign, rough, "", 400},
	{mutant.LeadWithoutTime, campaign, rough, "SO", 400},
	{mutant.LockFromBoundOnly, campaign, rough, "SO", 400},
	{mutant.VoteNotReady, campaign, rough, "M4", 1000},

	{mutant.RenewAfterPropose, campaign, rough, "", 400},
	{mutant.IgnoreOvertaken, campaign, many, "liveness", 3000},
	{mutant.IgnoreLaterAck, campaign, rough, "liveness", 1000},
	{mutant.OneProposalVar, campaign, roughStrict, "", 1000},
	{mutant.OwnSequenceIgnored, campaign, rough, "", 400},
	{mutant.MembersWithoutBoot, campaign, rough, "", 400},
	{mutant.KeepFlagOnAck, campaign, rough, "M4", 400},
	{mutant.CommitWithoutWait, campaign, rough, "M4", 400},
	{mutant.CommitWithoutAcks, campaign, rough, "", 400},
	{mutant.NoSecondChance, campaign, rough, "M6", 400},
	{mutant.KeepResigned, campaign, strictByID, "M4", 3000},
	{mutant.ViewLeaseFromNow, campaign, rough, "M4", 400},
	{mutant.RenewForgottenView, campaign, rough, "M4", 400},

	{mutant.ClockWithoutAgeing, campaign, rough, "deviation", 400},
	{mutant.ClockNoHalfWidth, campaign, rough, "deviation", 400},
	{mutant.ClockBackwards, campaign, rough, "monotone", 400},
}

func TestMutantsAreKilled(t *testing.T) {
	defer mutant.Set(mutant.None)
	for _, k := range kills {
		mutant.Set(k.id)
		seed, err := firstFailure(k)
		mutant.Set(mutant.None)
		if err == nil {
			t.Errorf("mutant %v survived %d seeds", k.id, k.seeds)
			continue
		}
		t.Logf("%v: killed by seed %d: %v", k.id, seed, err)
		if v := new(Violation); k.check != "" && errors.As(err, &v) && v.Check != k.check {
			t.Errorf("mutant %v: killed by %q, want %q", k.id, v.Check, k.check)
		}
		require.NoError(t, k.play(seed, k.opt), "seed %d must pass without mutant %v", seed, k.id)
	}
}

// elsewhere lists the mutants that other packages' tests kill.
var elsewhere = []mutant.ID{
	mutant.LockIgnoresBoot,        // leader
	mutant.BroadcastNoTails,       // broadcast
	mutant.BroadcastPromiseUnsent, // broadcast
	mutant.ReadRawLast,            // internal/hwclock
	mutant.SnapshotOnce,           // the root package
}

func TestEveryMutantHasItsTest(t *testing.T) {
	for id := mutant.ID(1); int(id) < mutant.Count; id++ {
		found := slices.Contains(elsewhere, id) || slices.ContainsFunc(kills, func(k kill) bool { return k.id == id }) ||
			slices.ContainsFunc(castKills, func(k castKill) bool { return k.id == id })
		require.True(t, found, "nothing kills mutant %v", id)
	}
}

// campaign runs random worlds.
func campaign(seed uint64, opt Options) error {
	r, err := Run(seed, opt)
	if err != nil {
		return err
	}
	if r.Violation != nil {
		return r.Violation
	}
	return nil
}

// topology runs still worlds of arbitrary connectivity.
func topology(seed uint64, opt Options) error {
	opt.Nodes = 6
	r, err := RunTopology(seed, opt)
	if err != nil {
		return err
	}
	if r.Violation != nil {
		return r.Violation
	}
	return nil
}

func firstFailure(k kill) (uint64, error) {
	for seed := uint64(1); seed <= k.seeds; seed++ {
		if err := k.play(seed, k.opt); err != nil {
			return seed, err
		}
	}
	return 0, nil
}
