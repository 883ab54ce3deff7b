package sim

import (
	"fmt"
	"testing"
	"time"

	"github.com/failaware/failaware/sim/fault"
)

// damagedPacketsHeal lets a few damaged packets pass the checksum, on all links of a group
// that is at rest, and demands that all nodes are in one up-to-date view 20 s after the
// last. No verdict rests on one packet for good.
func damagedPacketsHeal(seed uint64, opt Options) error {
	opt.Calm, opt.Duration = true, 30*time.Second
	opt.Faults = []fault.Fault{{Kind: fault.Damage, At: 5 * time.Second, For: 5 * time.Second, Rate: 0.002}}
	w := newWorld(seed, opt.withDefaults())
	if !w.runUntil(w.now + int64(opt.Duration)) {
		return w.failed
	}
	for _, n := range w.nodes {
		if s := n.proc.Stack.Membership(); !s.UpToDate(n.tick(w.now)) || s.View().Set != w.all() {
			return fmt.Errorf("seed %d: %d damaged packets leave node %d in view %v", seed, w.count.Corrupted, n.proc.ID, s.View())
		}
	}
	return nil
}

func TestDamagedPacketsDoNoLastingHarm(t *testing.T) {
	for _, nodes := range []int{2, 3, 5} {
		t.Run(fmt.Sprint(nodes), func(t *testing.T) {
			t.Parallel()
			for seed := uint64(1); seed <= scenarioSeeds; seed++ {
				if err := damagedPacketsHeal(seed, Options{Nodes: nodes}); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
