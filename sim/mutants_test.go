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
	{mutant.DelayWithoutG, campaign, rough, "delay", 50},
	{mutant.DelayWithoutDrift, campaign, rough, "delay", 20},
	{mutant.AliveWithoutHeard, campaign, rough, "alive", 20},
	{mutant.NotReadySaysHeard, campaign, rough, "ready", 20},
	{mutant.NotReadySaysHeard, restartedFollower, gentle, "ready", 5},
	{mutant.AcceptWithoutEcho, campaign, rough, "accept", 50},
	{mutant.KeepPairsOverBoot, campaign, rough, "", 50},

	{mutant.ReleaseWithoutWait, campaign, rough, "M4", 20},
	{mutant.ReleaseOnFailedRenew, campaign, roughStrict, "", 20},
	{mutant.KeepSupportOnRelease, campaign, roughStrict, "", 20},
	{mutant.ReleaseLateNumber, campaign, roughStrict, "SO", 100},
	{mutant.RequestNotReady, campaign, roughStrict, "", 20},
	{mutant.NoMergeExcuse, mergeKeepsWinner, gentle, "", 20},
	{mutant.NoRoundAfterSilence, oneLostPacket, gentle, "", 20},
	{mutant.NoLockedElsewhere, topology, gentle, "4'", 100},
	{mutant.LeaseWithoutDrift, campaign, rough, "SO", 50},
	{mutant.SlowElections, campaign, rough, "", 20},
	{mutant.VoteTwice, campaign, rough, "", 20},
	{mutant.LeadWithoutTime, campaign, rough, "SO", 20},
	{mutant.LockFromBoundOnly, campaign, rough, "SO", 20},
	{mutant.VoteNotReady, campaign, rough, "M4", 200},

	{mutant.RenewAfterPropose, campaign, rough, "", 20},
	{mutant.IgnoreOvertaken, campaign, many, "liveness", 60},
	{mutant.IgnoreLaterAck, campaign, rough, "liveness", 200},
	{mutant.OneProposalVar, campaign, roughStrict, "", 200},
	{mutant.OwnSequenceIgnored, campaign, rough, "", 20},
	{mutant.MembersWithoutBoot, campaign, rough, "", 50},
	{mutant.KeepFlagOnAck, campaign, rough, "M4", 20},
	{mutant.CommitWithoutWait, campaign, rough, "M4", 50},
	{mutant.CommitWithoutAcks, campaign, rough, "", 20},
	{mutant.NoSecondChance, campaign, rough, "M6", 20},
	{mutant.KeepResigned, campaign, strictByID, "M4", 300},
	{mutant.ViewLeaseFromNow, campaign, rough, "M4", 20},
	{mutant.RenewForgottenView, campaign, rough, "M4", 20},

	{mutant.ClockWithoutAgeing, campaign, rough, "deviation", 50},
	{mutant.ClockNoHalfWidth, campaign, rough, "deviation", 20},
	{mutant.ClockBackwards, campaign, rough, "monotone", 20},
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
	mutant.LockIgnoresBoot, // leader
	mutant.ReadRawLast,     // internal/hwclock
	mutant.SnapshotOnce,    // the root package
}

func TestEveryMutantHasItsTest(t *testing.T) {
	for id := mutant.ID(1); int(id) < mutant.Count; id++ {
		found := slices.Contains(elsewhere, id) || slices.ContainsFunc(kills, func(k kill) bool { return k.id == id })
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
