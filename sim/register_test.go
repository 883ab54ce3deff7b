package sim

import (
	"flag"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/sim/fault"
)

var (
	registerSeeds = flag.Uint64("register.seeds", 3, "the number of seeds with registers")
	registerFirst = flag.Uint64("register.first", 1, "the first of them")
)

// playRegisters runs registers in a random world, and returns whether their
// history is one that registers can have, and how many operations had an answer.
// Two processes with one id are two clients of one replica to others, and left
// out.
func playRegisters(t *testing.T, seed uint64, mode leader.Mode, bug registerBug) (bool, int) {
	t.Helper()
	s := &registers{bug: bug, rand: random.New(seed, random.Apps<<8)}
	c, err := CaseOf(seed, Options{Mode: mode, Roughness: 1 + float64(seed%3), Duration: 8 * time.Second, App: func(*World) App { return App{Start: s.app} },
		Broadcast: &Broadcast{Config: &broadcast.Config{Quorum: fault.Majority(group(5))}, Quiet: true}})
	require.NoError(t, err)
	c.Schedule.Faults = slices.DeleteFunc(c.Schedule.Faults, func(f fault.Fault) bool { return f.Kind == fault.Rival })
	w, err := c.World()
	require.NoError(t, err)
	require.NoError(t, w.Run(c.Options.Duration))
	for _, n := range w.nodes {
		if n.handlers.Stop != nil {
			n.handlers.Stop()
		}
	}
	return porcupine.CheckOperations(registerModel, s.history), s.finished
}

// Registers whose reads and writes are Total and Strict messages of quorums are
// linearizable, whatever happens to views and processes.
func TestRegistersAreLinearizable(t *testing.T) {
	finished := 0
	for seed := *registerFirst; seed < *registerFirst+*registerSeeds; seed++ {
		for _, mode := range []leader.Mode{leader.Available, leader.Strict} {
			ok, n := playRegisters(t, seed, mode, noRegisterBug)
			require.True(t, ok, "seed %d, mode %v: not linearizable", seed, mode)
			finished += n
		}
	}
	require.Greater(t, finished, int(100**registerSeeds), "too few operations had an answer to tell anything")
}

func TestLinearizabilityNoticesBugs(t *testing.T) {
	for name, bug := range map[string]registerBug{"reads answered locally": readsLocally, "writes answered when sent": answersAtOnce,
		"forgetful replicas counted": countsForgetful, "a view begun with the own state": forgetsBranch} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := uint64(1); seed <= 60; seed++ {
				if ok, _ := playRegisters(t, seed, leader.Available, bug); !ok {
					t.Logf("noticed by seed %d", seed)
					return
				}
			}
			t.Error("survived")
		})
	}
}
