package sim

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// namedSuccessor has the leader hand over to a node that the others would not
// prefer. That one must lead all before anybody else leads, and lead on.
func namedSuccessor(seed uint64, opt Options) error {
	opt.Calm = true
	w := newWorld(seed, opt.withDefaults())
	w.even()
	if !w.runUntil(w.now + int64(w.bounds.View+w.bounds.Rejoin)) {
		return w.failed
	}
	for round := range 5 {
		from := w.leaderOf(w.all())
		to := timed.NodeID(w.opt.Nodes - round)
		if to == w.nodes[from].proc.ID {
			continue
		}
		now := w.nodes[from].tick(w.now)
		w.finishTurn(w.nodes[from], now, w.nodes[from].proc.Stack.HandOver(now, to, w.out[:0]))
		limit := w.now + int64(w.bounds.Elect)
		for w.now < limit && w.step() && w.leaderOf(w.all()) != int(to)-1 {
			for i := range w.nodes {
				if w.check.Leads(i) && i != from && i != int(to)-1 {
					return fmt.Errorf("seed %d: node %d leads although node %d named node %d", seed, i+1, from+1, to)
				}
			}
		}
		if w.leaderOf(w.all()) != int(to)-1 {
			return fmt.Errorf("seed %d: node %d named node %d, which leads nobody: %v", seed, from+1, to, w.failed)
		}
		if !w.runUntil(w.now + int64(w.bounds.View)) {
			return w.failed
		}
		if w.leaderOf(w.all()) != int(to)-1 {
			return fmt.Errorf("seed %d: node %d, named by node %d, did not keep the lead", seed, to, from+1)
		}
	}
	return nil
}

// even makes all messages take the same time, so that none overtakes another on
// a different way, and all processes act at once.
func (w *World) even() {
	w.baseline.MinDelay, w.baseline.Lateness = w.baseline.MaxDelay, 0
	w.applyFaults()
}

// leaderOf returns who leads exactly a set, or -1.
func (w *World) leaderOf(s timed.Set) int {
	return slices.IndexFunc(w.nodes, func(n *Node) bool {
		return w.check.Leads(n.proc.Index) && w.check.Claims[n.proc.Index].Support == s
	})
}

// How long nobody leads when the lead changes hands, in message times: with all
// messages on their way for the same time, and processes that act at once.
func TestHandOverInMessageTimes(t *testing.T) {
	for _, c := range []struct {
		name  string
		named bool
		most  float64
	}{{"to the best contender", false, 3.2}, {"to a named successor", true, 3.2}} {
		w := newWorld(1, Options{Calm: true, Quorum: "majority:1,2,3,4,5"}.withDefaults())
		w.global.verifyRate = 0 // a leader that has promised to lead waits with its resignation
		delay := 2 * time.Millisecond
		w.baseline.MaxDelay = delay
		w.even()
		w.runUntil(w.now + int64(w.bounds.View+w.bounds.Rejoin))
		worst := time.Duration(0)
		for i := range 40 {
			from := w.leaderOf(w.all())
			require.GreaterOrEqual(t, from, 0)
			n, to := w.nodes[from], timed.NodeID(1+(from+1+i%4)%5)
			now, began := n.tick(w.now), w.now
			if c.named {
				w.finishTurn(n, now, n.proc.Stack.HandOver(now, to, w.out[:0]))
			} else {
				w.finishTurn(n, now, n.proc.Stack.Resign(now, w.out[:0]))
			}
			require.False(t, w.check.Leads(from))
			for w.step() {
				if by := w.leaderOf(w.all()); by >= 0 {
					require.NotEqual(t, from, by)
					require.True(t, w.check.LeadsGlobally(by))
					require.True(t, !c.named || by == int(to)-1)
					break
				}
			}
			worst = max(worst, time.Duration(w.now-began))
			w.runUntil(w.now + int64(w.bounds.View))
			require.Nil(t, w.failed)
		}
		times := float64(worst) / float64(delay)
		t.Logf("%s: %v, %.2f message times", c.name, worst, times)
		require.LessOrEqual(t, times, c.most, c.name)
	}
}
