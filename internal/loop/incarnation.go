package loop

import (
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/introduce"
	"github.com/failaware/failaware/internal/life"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/timed"
)

// begin starts an incarnation.
func (d *driver) begin() {
	now := d.clock.now
	d.cfg.Starts = d.l.cfg.State.Incarnation()
	d.claim()
	d.stack = stack.New(d.cfg, d.routes.known, now, clocksync.Time(d.l.cfg.Wall().UnixNano()))
	d.introductions, d.candidates = introduce.New(d.cfg.Self.Node, d.cfg.Timing.KeepalivePeriod, now), nil
	d.life.Begin(now)
	d.clock.served = now
}

// restart ends the incarnation, if there is one, with everything that rests on its
// clock, and chooses the boot id of the next one. Every incarnation but the last ends
// here; the last one ends with the loop, in finish.
func (d *driver) restart(why life.Reason, now timed.Instant, era uint32) {
	if why.Discredits() {
		d.trust.Lose() // before anybody can hear of the end
	}
	d.rivalry.duel.Restart(&d.cfg.Timing, d.clock.now, now)
	if d.stack != nil {
		d.distrust(now)
	}
	d.clock.now, d.clock.era, d.clock.served, d.trust = now, era, now, NewTrust(now)
	d.life.Restart(now, why)
	d.routes.restart(now)
	d.mismatches, d.quorums, d.nextLook, d.alarmed, d.lag = nil, nil, 0, 0, lag{} // their instants are of the earlier clock
	d.rivalry = rivalry{duel: d.rivalry.duel}
	d.asked.restart(now)
	previous := d.cfg.Self.Boot
	d.cfg.Self.Boot = newBoot(d.l.cfg.Random)
	if !d.persist(d.l.cfg.State.Count) {
		return // what is on the disk is not known, and this incarnation has no number
	}
	d.flush()
	d.restartMessages(why)
	d.l.cfg.Sink.Restarted(why, previous, d.cfg.Self.Boot)
}

// distrust tells the application that nothing of the incarnation holds any more, and
// drops its stack.
func (d *driver) distrust(now timed.Instant) {
	d.clock.now = now
	d.perform(d.stack.Distrust(now, d.effects[:0]))
	d.flush()
	if m := d.msgs; m != nil && m.deliveries != nil && m.deliveries.Keeps() {
		d.cfg.Ordered = d.stack.BroadcastState().Ordered()
	}
	d.retireStack()
}

// recallOrdered is the command of [Loop.RecallOrdered].
func (d *driver) recallOrdered(marks []broadcast.Mark) {
	d.cfg.Ordered = marks
	if d.stack != nil && !d.stack.RecallOrdered(marks) {
		d.restart(life.LateState, d.clock.now, d.clock.era)
	}
}

// retireStack lets go of the stack, and keeps its counts.
func (d *driver) retireStack() {
	if d.stack != nil {
		d.count.add(d.stack)
		d.cfg.Sequence = d.stack.Sequence()
		d.stack = nil
	}
}

// behind reports whether the application must take deliveries before another
// incarnation may begin.
func (d *driver) behind() bool {
	return d.msgs != nil && d.msgs.deliveries != nil && d.msgs.deliveries.Behind()
}

// judgeRate is the command of [Loop.JudgeRate].
func (d *driver) judgeRate(v hwclock.Verdict) {
	rate := life.RateWithin
	switch v {
	case hwclock.RateUnknown:
		rate = life.RateUnknown
	case hwclock.RateFaulty:
		rate = life.RateBeyond
	}
	if d.life.JudgeRate(rate) {
		d.restart(life.ClockRate, d.clock.now, d.clock.era)
	}
}

// leave is the command of [Loop.Leave].
func (d *driver) leave(forGood bool) {
	switch {
	case d.stack == nil || d.life.Leaving():
	case forGood:
		d.perform(d.stack.LeaveForGood(d.clock.now, d.effects[:0]))
	default:
		d.perform(d.stack.Leave(d.clock.now, d.effects[:0]))
	}
	d.life.Leave()
	if d.msgs != nil {
		d.msgs.sends.Close()
	}
}

// fail ends the loop at the end of the turn.
func (d *driver) fail(err error, unwritten bool) {
	if d.failure == nil {
		d.failure = err
	}
	d.life.Fail(unwritten)
}

// writeEpoch writes down the node's knowledge of its epoch.
func (d *driver) writeEpoch(s *epoch.State) {
	if !d.persist(func() error { return d.l.cfg.State.WriteEpoch(s) }) {
		return
	}
	if d.cfg.Epochs == nil || s.Epoch != d.cfg.Epochs.Epoch {
		d.voters.enter(s)
	}
	d.cfg.Epochs = s
}

// reserveViews writes down the largest sequence of views that this node knows, before
// anybody can hear that it takes part in a view with that sequence.
func (d *driver) reserveViews() {
	if d.stack != nil {
		d.persist(func() error { return d.l.cfg.State.ReserveViews(d.stack.Sequence()) })
	}
}

// forgetLongVotes writes down that longer votes of an earlier process are over.
func (d *driver) forgetLongVotes() {
	state, sink, maxLock := d.l.cfg.State, d.l.cfg.Sink, d.cfg.Timing.MaxLockTime
	if state.Earlier() <= maxLock {
		return
	}
	d.l.cfg.Go(func() {
		if err := state.Lower(maxLock); err != nil {
			sink.Warn("the state directory keeps a longer lock time than needed", "error", err)
		}
	})
}
