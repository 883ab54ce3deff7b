package loop

import (
	"sync/atomic"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/seqlock"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/timed"
)

// end ends a phase whose next one is published.
func (p *Phase) end(why *Lost) {
	p.lost = why
	close(p.Over)
}

// publishReach makes known how far the broadcast is, before a packet acknowledges it and
// before the deliveries reach their consumer.
func (d *driver) publishReach() {
	if d.msgs == nil {
		return
	}
	var r broadcast.Reach
	if d.stack != nil {
		r = d.stack.BroadcastState().Reach()
	}
	if r != d.pub.reach {
		d.pub.reach = r
		d.l.reach.Store(&[seqlock.Size]uint64{r.View.Sequence, uint64(r.View.Leader), uint64(r.View.Boot), r.Have, r.Delivered, r.Position})
	}
}

// publication is the current snapshot, and how leads have ended since it was
// published.
type publication struct {
	current    *Snapshot
	reach      broadcast.Reach
	lost       *Lost
	lostGlobal *Lost
}

// publish makes the state of the loop the one that readers answer from, if it has
// changed.
func (d *driver) publish() {
	d.publishReach()
	p, prev := &d.pub, d.pub.current
	var state stack.Snapshot
	switch {
	case d.stack != nil:
		state = d.stack.Snapshot(d.clock.now)
	case prev != nil:
		state = stack.Between(d.cfg.Self, d.cfg.Epochs, &prev.Snapshot)
	default:
		state = stack.Between(d.cfg.Self, d.cfg.Epochs, nil)
	}
	if prev != nil && prev.Snapshot == state && prev.Era == d.clock.era && prev.Trust == d.trust && p.lost == nil && p.lostGlobal == nil {
		return
	}
	s := &Snapshot{Snapshot: state, Era: d.clock.era, Trust: d.trust}
	s.Phase, s.GlobalPhase = p.phaseOf(s, d.clock.now), p.globalPhaseOf(s, d.clock.now)
	if prev != nil && prev.Clock.Timeline() == s.Clock.Timeline() && prev.Self == s.Self {
		s.Shown = prev.Shown
	} else {
		s.Shown = new(atomic.Int64)
	}
	p.current = s
	d.l.snapshot.Store(s)
	if prev != nil && prev.Phase != s.Phase {
		prev.Phase.end(p.lost)
	}
	if prev != nil && prev.GlobalPhase != s.GlobalPhase {
		prev.GlobalPhase.end(p.lostGlobal)
	}
	p.lost, p.lostGlobal = nil, nil
	if f := d.l.cfg.OnPublish; f != nil {
		f(s, d.clock.now, d.l.cfg.Clock.Now())
	}
}

// phaseOf returns the phase of the next snapshot: the present one, if it continues. A lead
// that ended in this turn is over, even if another has begun since, and so is one whose
// lease ran out before it was renewed.
func (p *publication) phaseOf(s *Snapshot, now timed.Instant) *Phase {
	leads, leader := s.Leading && now < s.Expiration, timed.Incarnation{}
	if !leads && s.Following != s.Self {
		leader = s.Following
	}
	prev := p.current
	if prev != nil && prev.Phase.Leads == leads && prev.Phase.Leader == leader &&
		(!leads || p.lost == nil && prev.Era == s.Era && s.Continues(now, &prev.Snapshot)) {
		return prev.Phase
	}
	return &Phase{Leads: leads, Since: now, Leader: leader, Over: make(chan struct{})}
}

// globalPhaseOf is phaseOf for the global lead.
func (p *publication) globalPhaseOf(s *Snapshot, now timed.Instant) *Phase {
	leads := s.Global && now < s.GlobalUntil
	prev := p.current
	if prev != nil && prev.GlobalPhase.Leads == leads &&
		(!leads || p.lostGlobal == nil && prev.Era == s.Era && s.ContinuesGlobally(now, &prev.Snapshot)) {
		return prev.GlobalPhase
	}
	return &Phase{Leads: leads, Since: now, Over: make(chan struct{})}
}
