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
	play  func(uint64, castOptions) error // nil: a campaign
}

// run plays one seed.
func (k *castKill) run(seed uint64) error {
	if k.play != nil {
		return k.play(seed, k.opt)
	}
	return castRun(seed, k.opt)
}

var (
	castRough = castOptions{rage: 4 * time.Second}
	castTimed = castOptions{rage: 4 * time.Second, timed: true}
	castLarge = castOptions{rage: 3 * time.Second, large: true}
	castSlow  = castOptions{rage: 4 * time.Second, slow: true, rate: 400}
	castPrim  = castOptions{rage: 4 * time.Second, quorum: true}
)

var castKills = []castKill{
	{mutant.BroadcastNoFreeze, castRough, "", 300, nil},
	{mutant.BroadcastLateHave, castOptions{rage: 8 * time.Second, nodes: 4, rate: 300}, "", 600, nil},
	{mutant.BroadcastAcksFrozen, castRough, "", 300, nil},
	{mutant.BroadcastDeliverFrozen, castRough, "", 300, nil},
	{mutant.BroadcastThaw, castRough, "", 300, nil},
	{mutant.BroadcastNoBase, castRough, "", 300, nil},
	{mutant.BroadcastIgnoreBoot, castRough, "", 300, nil},
	{mutant.BroadcastFlushKnown, castRough, "", 300, nil},
	{mutant.BroadcastCommitUnflushed, castRough, "", 300, nil},
	{mutant.BroadcastLocalAcks, castRough, "EVS", 300, nil},
	{mutant.BroadcastForgetUnsent, castRough, "", 300, nil},
	{mutant.BroadcastForgetAbsent, castRough, "", 300, nil},
	{mutant.BroadcastSilentLoss, castRough, "loss", 300, nil},
	{mutant.BroadcastForeignHeaders, castRough, "", 300, nil},
	{mutant.BroadcastAckUnheld, castRough, "", 300, nil},
	{mutant.BroadcastSplitMessage, castLarge, "", 300, nil},
	{mutant.BroadcastStrongAsWeak, castRough, "atomicity", 300, nil},
	{mutant.BroadcastStrictAsStrong, castRough, "", 300, nil},
	{mutant.BroadcastEarlyRelease, castRough, "", 300, nil},
	{mutant.BroadcastTimedAsTotal, castTimed, "timed", 300, nil},
	{mutant.BroadcastTotalOvertakes, castTimed, "FIFO", 300, nil},
	{mutant.BroadcastOrderMinority, castPrim, "quorum", 300, nil},
	{mutant.BroadcastNoFill, castRough, "", 300, nil},
	{mutant.BroadcastSlowAcks, castSlow, "memory", 300, nil},
	{mutant.BroadcastKeepStability, castOptions{nodes: 3, lossless: true, rate: 200}, "", 10, castAroundCut},
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
		require.NoError(t, k.run(seed), "seed %d must pass without mutant %v", seed, k.id)
	}
}

// castFailure returns the first seed with which a planted bug shows. A machine
// whose state the bug has made impossible may panic.
func castFailure(k castKill) (uint64, error) {
	for seed := uint64(1); seed <= k.seeds; seed++ {
		if err := castTry(&k, seed); err != nil {
			return seed, err
		}
	}
	return 0, nil
}

var errPanic = errors.New("panic")

func castTry(k *castKill, seed uint64) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errPanic
		}
	}()
	return k.run(seed)
}
