package sim

import (
	"fmt"
	"testing"
	"time"

	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/sim/situation"
	"github.com/failaware/failaware/timed"
)

// A scenario plays one situation in a world without random faults and returns
// what went wrong with the rule that it is about.

// mergeKeepsWinner merges two still halves. The leader that leads in the end
// must not lose its lease on the way (docs/internals/protocol.md, leaders, rule 7: a merge under way does
// not block the leader that outranks).
func mergeKeepsWinner(seed uint64, opt Options) error {
	opt.Calm = true
	w := newWorld(seed, opt.withDefaults())
	left, right := timed.SetOf(1, 2, 5), timed.SetOf(3, 4)
	w.split([]timed.Set{left, right}, false)
	still := int64(w.bounds.View + w.bounds.Rejoin)
	// The instant of healing falls anywhere in a period.
	still += w.chaos.Below(int64(w.opt.Timing.ElectionPeriod))
	if !w.runUntil(w.now + still) {
		return w.failed
	}
	before := w.check.Counts.Situations[situation.LeaseExpired]
	w.endFaults()
	// The losing leader's word that it gives up is lost, so that its votes stay
	// bound until its view's lease has run out.
	for i := range w.links {
		for j := range w.links[i] {
			w.links[i][j].dropAll = wire.FrameResign
		}
	}
	if !w.runUntil(w.now + int64(w.bounds.View)) {
		return w.failed
	}
	if w.check.Counts.Situations[situation.LeaseExpired] != before {
		return fmt.Errorf("seed %d: a leader lost its lease while two partitions merged", seed)
	}
	return nil
}

// oneLostPacket loses single packets in a still world: no view may become stale
// by it (rule 9: silence starts the next round at once).
func oneLostPacket(seed uint64, opt Options) error {
	opt.Calm = true
	opt = opt.withDefaults()
	// The shortest lock time that is sound: it covers two periods, not three.
	t := &opt.Timing
	t.ElectionPeriod *= 2
	t.LockTime = t.LeastLockTime()
	t.MaxLockTime = t.LockTime
	w := newWorld(seed, opt)
	// With delays near δ and wake-ups near σ, the shortest lock time does not
	// cover a lost reply of a view; with a network that is half as bad it does.
	w.baseline.MaxDelay = min(w.baseline.MaxDelay, t.OneWayTimeout/2)
	w.baseline.MinDelay = min(w.baseline.MinDelay, w.baseline.MaxDelay)
	w.baseline.Lateness = min(w.baseline.Lateness, t.SchedulingDelay/4)
	w.endFaults()
	if !w.runUntil(w.now + int64(w.bounds.View+w.bounds.Rejoin)) {
		return w.failed
	}
	before := w.check.Counts.Situations[situation.ViewStale]
	for range 40 {
		from, to := w.anyNode(), w.anyNode()
		w.links[from.proc.Index][to.proc.Index].dropNext = wire.FrameReply
		if !w.runUntil(w.now + int64(3*w.opt.Timing.Expires)) {
			return w.failed
		}
		w.links[from.proc.Index][to.proc.Index].dropNext = 0
	}
	if n := w.check.Counts.Situations[situation.ViewStale] - before; n != 0 {
		return fmt.Errorf("seed %d: 40 lost replies made views stale %d times", seed, n)
	}
	return nil
}

// lateFromTheDead restarts a node, and lets a late packet of its old incarnation
// reach somebody long after: no view may become stale by it.
func lateFromTheDead(seed uint64, opt Options) error {
	opt.Calm, opt.RankBy = true, leader.ByID // so that the node leads again
	w := newWorld(seed, opt.withDefaults())
	still := int64(w.bounds.View + w.bounds.Rejoin)
	if !w.runUntil(w.now + still) {
		return w.failed
	}
	dead, to := w.nodes[0], w.nodes[1+seed%4]
	l := &w.links[dead.proc.Index][to.proc.Index]
	l.slow = 3 * still
	w.runUntil(w.now + int64(10*w.opt.Timing.KeepalivePeriod))
	l.slow = 0
	w.crash(dead)
	w.runUntil(w.now + int64(w.opt.Timing.ElectionPeriod))
	w.restart(dead)
	if !w.runUntil(w.now + still + still/2) {
		return w.failed
	}
	before := w.check.Counts.Situations[situation.ViewStale]
	if !w.runUntil(w.now + 3*still) {
		return w.failed
	}
	if w.check.Counts.Situations[situation.ViewStale] != before {
		return fmt.Errorf("seed %d: a late packet of a dead incarnation of node %d made views stale", seed, dead.proc.ID)
	}
	return nil
}

// excuseOutOfHearing leaves a leader alone with one that follows a leader whom
// it no longer hears, in mode Strict: it must not go on leading without that one
// (BI).
func excuseOutOfHearing(seed uint64, opt Options) error {
	opt.Calm, opt.Mode, opt.Nodes = true, leader.Strict, 3
	w := newWorld(seed, opt.withDefaults())
	still := int64(w.bounds.View + w.bounds.Rejoin)
	if !w.runUntil(w.now + still) {
		return w.failed
	}
	w.split([]timed.Set{timed.SetOf(1), timed.SetOf(2, 3)}, false)
	if !w.runUntil(w.now + still) {
		return w.failed
	}
	w.links[0][2].cut, w.links[2][0].cut = false, false
	if !w.runUntil(w.now + still) {
		return w.failed
	}
	if w.check.Leads(0) && !w.check.Claims[0].Support.Has(3) {
		return fmt.Errorf("seed %d: node 1 leads without node 3, which is connected to it", seed)
	}
	return nil
}

// restartedFollower crashes and restarts a follower at once in mode Strict: the
// leader must not lose its lease for a node that is not ready (rule 8).
func restartedFollower(seed uint64, opt Options) error {
	opt.Calm, opt.Mode = true, leader.Strict
	opt = opt.withDefaults()
	// A lock time above what a crash costs, so that the crash alone is harmless.
	t := &opt.Timing
	t.LockTime = t.Expires + 4*t.ElectionPeriod + t.RoundTime()
	t.MaxLockTime = t.LockTime
	w := newWorld(seed, opt)
	if !w.runUntil(w.now + int64(w.bounds.View+w.bounds.Rejoin)) {
		return w.failed
	}
	before := w.check.Counts.Situations[situation.LeaseExpired]
	for _, n := range w.nodes {
		if !w.check.Leads(n.proc.Index) {
			w.crash(n)
			w.runUntil(w.now + int64(t.ElectionPeriod))
			w.restart(n)
			break
		}
	}
	if !w.runUntil(w.now + int64(w.bounds.View+w.bounds.Rejoin)) {
		return w.failed
	}
	if w.check.Counts.Situations[situation.LeaseExpired] != before {
		return fmt.Errorf("seed %d: the restart of a follower cost the leader its lease", seed)
	}
	return nil
}

// handOver has the leader resign. Another must lead before that could be waited
// for, and it must keep the lead.
func handOver(seed uint64, opt Options) error {
	opt.Calm = true
	w := newWorld(seed, opt.withDefaults())
	if !w.runUntil(w.now + int64(w.bounds.View+w.bounds.Rejoin)) {
		return w.failed
	}
	for range 10 {
		from := -1
		for i, n := range w.nodes {
			if w.check.Leads(i) {
				from = i
				now := n.tick(w.now)
				w.finishTurn(n, now, n.proc.Stack.Resign(now, w.out[:0]))
				break
			}
		}
		limit := w.now + int64(2*w.opt.Timing.Period())
		for w.now < limit && w.step() {
			for i := range w.nodes {
				if w.check.Leads(i) && w.check.Claims[i].Support == w.all() {
					limit = 0
					if i == from {
						return fmt.Errorf("seed %d: node %d resigned and leads again", seed, from+1)
					}
				}
			}
		}
		if limit != 0 {
			return fmt.Errorf("seed %d: nobody took over from node %d: %v", seed, from+1, w.failed)
		}
		if !w.runUntil(w.now + int64(w.bounds.View)) {
			return w.failed
		}
		if w.check.Leads(from) && w.opt.RankBy == leader.Stable {
			return fmt.Errorf("seed %d: node %d took the lead back", seed, from+1)
		}
	}
	return nil
}

// scenarioSeeds is the number of seeds in which scenarios hold. Some demand more
// than every world can give.
const scenarioSeeds = 50

func TestScenarios(t *testing.T) {
	for name, play := range map[string]func(uint64, Options) error{
		"merge keeps the winner's lease": mergeKeepsWinner,
		"one lost packet":                oneLostPacket,
		"restarted follower":             restartedFollower,
		"hand over":                      handOver,
		"named successor":                namedSuccessor,
		"clone is noticed":               cloneIsNoticed,
		"late packet of the dead":        lateFromTheDead,
		"excuse out of hearing":          excuseOutOfHearing,
		"silent supporter":               silentSupporter,
		"restarted voter":                restartedVoter,
		"led again":                      ledAgain,
		"late confirmation":              lateConfirmation,
		"confirmation of another view":   confirmationOfAnother,
		"word of a former leader":        wordOfAFormerLeader,
		"member that went on":            memberThatWentOn,
		"taken and returned":             takenAndReturned,
		"crashed leaf":                   crashedLeaf,
		"crashed inner node":             crashedInner,
		"cut from the parent":            cutFromTheParent,
		"cut from the leader":            cutFromTheLeader,
		"damaged packets":                damagedPacketsHeal,
		"crashed leader":                 crashedLeader,
		"crashed with the next":          crashedWithTheNext,
		"crashed after a return":         crashedAfterReturn,
		"crashed out of hearing":         crashedOutOfHearing,
	} {
		for _, timing := range []timed.Timing{timed.Local(), timed.LAN()} {
			t.Run(fmt.Sprintf("%s/%v", name, timing.ElectionPeriod), func(t *testing.T) {
				t.Parallel()
				for seed := uint64(1); seed <= scenarioSeeds; seed++ {
					if err := play(seed, Options{Timing: timing, Duration: time.Minute}); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
}
