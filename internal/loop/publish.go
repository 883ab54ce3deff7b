package loop

import (
	"sync/atomic"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/seqlock"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// Snapshot is the state that readers answer from, together with their own reading of
// the clock. It is immutable once published, except for Shown.
type Snapshot struct {
	stack.Snapshot
	Era         uint32 // of the hardware clock: in another era, every lease is void
	Trust       *Trust // in the clock; once it is lost, every lease is void
	Phase       *Phase // of the local lead
	GlobalPhase *Phase // of the global lead
	// Shown is the latest time of the clock's timeline that any reader was given. All
	// snapshots of one timeline share it.
	Shown *atomic.Int64
}

// Phase is a time in which it does not change whether this node leads, or which node
// it follows.
type Phase struct {
	Leads  bool
	Since  timed.Instant     // the turn in which it began
	Leader timed.Incarnation // the node that this one follows, if it does not lead
	// Over is closed when the phase is over and the snapshot of the next one is
	// published.
	Over chan struct{}

	lost *Lost // written before Over is closed
}

// Lost says why a lead has ended.
type Lost struct {
	Reason leader.Reason
	By     timed.NodeID // whose message or silence caused it, if anyone's
}

// Lost returns why the lead of a phase that is over has ended; nil if its lease was
// not renewed in time. It must not be called before Over is closed.
func (p *Phase) Lost() *Lost { return p.lost }

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

// Reach returns how far the broadcast is: at least as far as this node has told others.
// ok is false if that is just changing.
func (l *Loop) Reach() (r broadcast.Reach, ok bool) {
	n, ok := l.reach.Load()
	id := membership.ViewID{Sequence: n[0], Leader: timed.NodeID(n[1]), Boot: timed.BootID(n[2])}
	return broadcast.Reach{View: id, Have: n[3], Delivered: n[4], Position: n[5]}, ok
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

// phaseOf returns the phase of the next snapshot: the present one, if nothing
// happened to it. A lead that ended in this turn is over, even if another has begun
// since, and so is one whose lease ran out before it was renewed.
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

// Lease returns the phase that a lead belongs to, and until when its lease lasts;
// zero if there is none.
func (s *Snapshot) Lease(global bool) (p *Phase, until timed.Instant) {
	switch {
	case global && s.Global:
		return s.GlobalPhase, s.GlobalUntil
	case global:
		return s.GlobalPhase, 0
	case s.Leading:
		return s.Phase, s.Expiration
	}
	return s.Phase, 0
}

// Lasts returns how much longer a lead lasts for users that need a margin before its end;
// zero once it is over. p is the phase of the lead, or nil.
func (s *Snapshot) Lasts(p *Phase, global bool, now timed.Instant, margin time.Duration) time.Duration {
	if phase, until := s.Lease(global); p != nil && phase == p {
		return max(until.Sub(now)-margin, 0)
	}
	return 0
}
