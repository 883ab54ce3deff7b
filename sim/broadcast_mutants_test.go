//go:build mutants

package sim

import (
	"errors"
	"flag"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant"
)

// A castKill says in which kind of world a planted bug of the broadcast shows,
// within how many seeds. Without the bug the same seed must pass.
type castKill struct {
	id    mutant.ID
	opt   castOptions
	check string // "": any
	seeds uint64
}

var (
	castRough = castOptions{rage: 4 * time.Second}
	castTimed = castOptions{rage: 4 * time.Second, timed: true}
	castLarge = castOptions{rage: 3 * time.Second, large: true}
	castPrim  = castOptions{rage: 4 * time.Second, quorum: true}
)

var castKills = []castKill{
	{mutant.BroadcastNoFreeze, castRough, "", 300},
	{mutant.BroadcastLateHave, castRough, "", 300},
	{mutant.BroadcastAcksFrozen, castRough, "", 300},
	{mutant.BroadcastDeliverFrozen, castRough, "", 300},
	{mutant.BroadcastThaw, castRough, "", 300},
	{mutant.BroadcastNoBase, castRough, "", 300},
	{mutant.BroadcastIgnoreBoot, castRough, "", 300},
	{mutant.BroadcastFlushKnown, castRough, "", 300},
	{mutant.BroadcastCommitUnflushed, castRough, "", 300},
	{mutant.BroadcastLocalAcks, castRough, "EVS", 300},
	{mutant.BroadcastForgetUnsent, castRough, "", 300},
	{mutant.BroadcastForgetAbsent, castRough, "", 300},
	{mutant.BroadcastSilentLoss, castRough, "loss", 300},
	{mutant.BroadcastNoTails, castRough, "", 300},
	{mutant.BroadcastForeignHeaders, castRough, "", 300},
	{mutant.BroadcastAckUnheld, castRough, "", 300},
	{mutant.BroadcastDecideUnheld, castRough, "", 300},
	{mutant.BroadcastSplitMessage, castLarge, "", 300},
	{mutant.BroadcastStrongAsWeak, castRough, "atomicity", 300},
	{mutant.BroadcastStrictAsStrong, castRough, "", 300},
	{mutant.BroadcastEarlyRelease, castRough, "", 300},
	{mutant.BroadcastTimedAsTotal, castTimed, "timed", 300},
	{mutant.BroadcastTotalOvertakes, castTimed, "FIFO", 300},
	{mutant.BroadcastPromiseUnsent, castTimed, "timed", 300},
	{mutant.BroadcastOrderMinority, castPrim, "quorum", 300},
}

var castOnly = flag.String("cast.mutant", "", "only the planted bug with this name")

func TestBroadcastMutantsAreKilled(t *testing.T) {
	defer mutant.Set(mutant.None)
	for _, k := range castKills {
		if *castOnly != "" && *castOnly != k.id.String() {
			continue
		}
		mutant.Set(k.id)
		seed, err := castFailure(k)
		mutant.Set(mutant.None)
		if err == nil {
			t.Errorf("mutant %v survived %d seeds", k.id, k.seeds)
			continue
		}
		t.Logf("%v: killed by seed %d: %v", k.id, seed, err)
		if v := new(Violation); k.check != "" && errors.As(err, &v) && v.Check != k.check {
			t.Errorf("mutant %v: killed by %q, want %q", k.id, v.Check, k.check)
		}
		require.NoError(t, castRun(seed, k.opt), "seed %d must pass without mutant %v", seed, k.id)
	}
}

// castFailure returns the first seed with which a planted bug shows. A machine
// whose state the bug has made impossible may panic.
func castFailure(k castKill) (uint64, error) {
	for seed := uint64(1); seed <= k.seeds; seed++ {
		if err := castTry(seed, k.opt); err != nil {
			return seed, err
		}
	}
	return 0, nil
}

var errPanic = errors.New("panic")

func castTry(seed uint64, opt castOptions) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errPanic
		}
	}()
	return castRun(seed, opt)
}
