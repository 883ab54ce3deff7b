package sim

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// movesAreFollowed has nodes move to other addresses while packets are sent on with
// wrong ones, again, and late. No packet counts twice, no address gets more than came from
// it before it shows that it receives, and the group is whole soon after every move.
func movesAreFollowed(seed uint64, opt Options) error {
	w, err := moves(seed, opt)
	if err == nil && (w.addresses.attacks < 100 || w.addresses.challenged < 10) {
		err = fmt.Errorf("seed %d: %d attacks and %d challenges are too few", seed, w.addresses.attacks, w.addresses.challenged)
	}
	return err
}

func moves(seed uint64, opt Options) (*World, error) {
	const each = 2 * time.Second
	opt.Calm, opt.Duration = true, time.Minute
	opt.Nodes = 3 + int(seed%3)
	w := newWorld(seed, opt.withDefaults())
	w.addresses = newAddresses(w)
	for i := range 12 {
		if !w.runUntil(w.now + int64(each)) {
			return w, w.failed
		}
		for wait := 0; !w.isWhole(); wait++ { // a lost packet can cost freshness for a moment
			if wait == 100 {
				return w, fmt.Errorf("seed %d: the group is not whole after %d moves", seed, i)
			}
			if !w.runUntil(w.now + int64(10*time.Millisecond)) {
				return w, w.failed
			}
		}
		w.addresses.move(w.nodes[w.apps.Below(int64(len(w.nodes)))])
	}
	return w, nil
}

// isWhole reports whether all nodes are in one view, which is up to date.
func (w *World) isWhole() bool {
	for _, n := range w.nodes {
		if s := n.proc.Stack.Membership(); !s.UpToDate(n.tick(w.now)) || s.View().Set != w.all() {
			return false
		}
	}
	return true
}

func TestMovesAreFollowed(t *testing.T) {
	for seed := uint64(1); seed <= scenarioSeeds; seed++ {
		require.NoError(t, movesAreFollowed(seed, Options{}))
	}
}
