package sim

import (
	"context"
	"time"

	"github.com/failaware/failaware/leader"
)

// Scenarios of leaders that crash in an otherwise still world.

// stillGroup returns a still world of seven nodes, at any time of its leader's period. Delays
// are at most half of δ.
func stillGroup(seed uint64, opt Options) (w *World, head *Node, err error) {
	opt.Calm, opt.Nodes, opt.RankBy = true, 7, leader.ByID
	w = newWorld(seed, opt.withDefaults())
	t := &w.opt.Timing
	w.baseline.MaxDelay = min(w.baseline.MaxDelay, t.OneWayTimeout/2)
	w.baseline.MinDelay = min(w.baseline.MinDelay, w.baseline.MaxDelay)
	w.baseline.Lateness = min(w.baseline.Lateness, t.SchedulingDelay/4)
	w.endFaults()
	if head, err = w.awaitLeader(context.Background()); err != nil {
		return nil, nil, err
	}
	if !w.runUntil(w.now + int64(10*t.Expires) + w.chaos.Below(int64(t.ElectionPeriod))) {
		return nil, nil, w.failed
	}
	return w, head, nil
}

// followers returns a still group whose leader has just crashed, and when its last request
// left.
func followers(seed uint64, opt Options) (w *World, asked int64, err error) {
	w, head, err := stillGroup(seed, opt)
	if err != nil {
		return nil, 0, err
	}
	asked = head.proc.Clock.When(head.proc.Stack.Election().LastRequest())
	w.crash(head)
	return w, asked, nil
}

// ledAgainBy lets time pass until somebody leads all that run, and returns what is wrong if
// that is later than a time after the last request of the crashed leader.
func (w *World) ledAgainBy(asked int64, within time.Duration) error {
	if _, err := w.awaitLeader(context.Background()); err != nil {
		return err
	}
	if took := time.Duration(w.now - asked); took > within {
		return w.outcome("the next leader led %v after the last request of the one before, and not within %v", took, within)
	}
	return nil
}

// crashedLeader wants the first request after a crash to win: the best follower asks when
// the votes end, and nobody else does.
func crashedLeader(seed uint64, opt Options) error {
	w, asked, err := followers(seed, opt)
	if err != nil {
		return err
	}
	t := &w.opt.Timing
	return w.ledAgainBy(asked, t.MaxDrift.Wait(t.LockTime)+2*(t.OneWayTimeout+t.SchedulingDelay))
}

// crashedWithTheNext has the best follower crash too, too late for the others to notice in
// time: each of them waits for it once, and the next one leads after one round.
func crashedWithTheNext(seed uint64, opt Options) error {
	w, asked, err := followers(seed, opt)
	if err != nil {
		return err
	}
	t := &w.opt.Timing
	if !w.runUntil(asked + int64(t.LockTime-t.SchedulingDelay)) {
		return w.failed
	}
	for _, n := range w.nodes {
		if n.proc.Up {
			w.crash(n)
			break
		}
	}
	turn := t.FastThreshold + t.SchedulingDelay + t.OneWayTimeout
	return w.ledAgainBy(asked, t.MaxDrift.Wait(t.LockTime+turn+t.RoundTime())+2*(t.OneWayTimeout+t.SchedulingDelay))
}

// crashedAfterReturn has the leader crash when a follower has just come back. It has heard all
// of them in the round before its last, and so it counts as alive after their votes have ended.
// Nobody waits until it is missed, and the first request wins.
func crashedAfterReturn(seed uint64, opt Options) error {
	w, head, err := stillGroup(seed, opt)
	if err != nil {
		return err
	}
	back := w.nodes[len(w.nodes)-1]
	w.crash(back)
	if _, err := w.awaitLeader(context.Background()); err != nil {
		return err
	}
	w.restart(back)
	if _, err := w.awaitLeader(context.Background()); err != nil {
		return err
	}
	asked, t := w.now, &w.opt.Timing // a round that has been won is followed by another one at once
	w.crash(head)
	return w.ledAgainBy(asked, t.MaxDrift.Wait(t.LockTime)+2*(t.OneWayTimeout+t.SchedulingDelay))
}

// crashedOutOfHearing has the leader be out of one node's hearing instead: the better
// candidates, for which that node waits, follow it on. The node leads itself all the same.
func crashedOutOfHearing(seed uint64, opt Options) error {
	opt.Calm, opt.Nodes = true, 5
	w := newWorld(seed, opt.withDefaults())
	head, err := w.awaitLeader(context.Background())
	if err != nil {
		return err
	}
	lone := w.nodes[len(w.nodes)-1]
	if lone == head {
		lone = w.nodes[0]
	}
	w.cutBoth(head, lone, true)
	t := &w.opt.Timing
	turn := t.FastThreshold + t.SchedulingDelay + t.OneWayTimeout
	limit := w.bounds.Notice + w.bounds.Depose + t.MaxDrift.Wait(2*turn+t.RoundTime()) + t.SchedulingDelay
	if !w.until(limit, func() bool { return w.check.Leads(lone.proc.Index) }) {
		return w.outcome("node %d waits for followers of a leader that it does not hear", lone.proc.ID)
	}
	return nil
}
