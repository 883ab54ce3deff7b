package broadcast

import (
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// Install ends the old view and begins v. This node has acknowledged the proposal of v
// last, and CanInstall or Ready is true for it.
func (s *Service) Install(_ timed.Instant, v *membership.View, out []Effect) []Effect {
	c := s.freeze.commit
	if s.view != nil {
		out = s.finish(v, c.branch(s.view.ID), out)
	}
	s.committed = nil
	if s.freeze.lead {
		s.committed = s.freeze.terms
	}
	out = s.rebase(v, c, out)
	s.beginView(v)
	return append(out, Effect{Kind: Installed, View: v, Base: s.marks[ClassOrdered].list()})
}

// finish delivers the rest of the old view: first, as regular messages, those that are
// stable by the merged acknowledgements, which are the same at all members that move
// together, and then the rest of the log, marked as transitional.
func (s *Service) finish(v *membership.View, b *Branch, out []Effect) []Effect {
	for i := range s.members {
		m := &s.members[i]
		m.ack = max(m.ack, find(b.Acks, m.Incarnation))
		u := m.stream(ClassUnordered)
		u.reach = max(u.reach, u.delivered, u.through)
	}
	s.noteStable(b.Stable)
	s.restable()
	s.cover()
	from := len(s.deliveries)
	s.deliverOrdered(false)
	for i := range s.members {
		s.deliverUnordered(i, s.members[i].stream(ClassUnordered).reach, false)
	}
	out = s.handOut(from, out)
	out = append(out, Effect{Kind: Transition, View: s.view, Next: v, Along: v.Transitional(s.view.ID)})
	from = len(s.deliveries)
	s.deliverOrdered(true)
	for len(s.deferred.heap) > 0 {
		s.deliverDeferred(s.have, true)
		s.deliveries[len(s.deliveries)-1].Flushed = true
	}
	for i := range s.members {
		s.deliverUnordered(i, s.members[i].stream(ClassUnordered).reach, true)
	}
	return s.handOut(from, out)
}

// rebase moves all streams to the base of the new view. Messages that were ordered in some
// branch are never ordered again. The outcome of this node's own messages among them is
// unknown if it has not delivered them.
func (s *Service) rebase(v *membership.View, c *Commit, out []Effect) []Effect {
	s.updateMarks()
	s.adopt(c)
	s.dropNonMembers(v)
	for i := range v.Members {
		m := v.Members[i].Incarnation
		for class := range classes {
			base := s.marks[class].of(m)
			st := &s.streamsOf(m.Node)[class]
			if m == s.cfg.Self && st.boot == m.Boot {
				got := st.through
				if class == ClassUnordered {
					got = st.delivered
				}
				if base > got {
					out = append(out, Effect{Kind: Elsewhere, View: s.view, Class: class, From: got + 1, Through: base})
				}
			}
			st.begin(&s.arena, m.Boot, base)
			if m == s.cfg.Self {
				s.sent[class] = base // later messages are sent again
			}
		}
	}
	return out
}

// adopt takes the positions of all branches in place of this node's, which are among them.
func (s *Service) adopt(c *Commit) {
	s.marks = [classes]positions{}
	s.marks[ClassOrdered].add(c.Ordered)
	s.marks[ClassUnordered].add(c.Unordered)
}

// dropNonMembers drops the messages of nodes that are not in a view. The marks of their
// messages stay, because they may come back.
func (s *Service) dropNonMembers(v *membership.View) {
	for i := range s.members {
		m := &s.members[i]
		if v.Has(m.Incarnation) {
			continue
		}
		for c := range classes {
			m.stream(c).begin(&s.arena, 0, 0)
		}
	}
}

// beginView starts a view without decisions.
func (s *Service) beginView(v *membership.View) {
	s.view, s.members = v, s.members[:0]
	for i := range v.Members {
		m := v.Members[i].Incarnation
		if m == s.cfg.Self {
			s.me = i
		}
		if m.Node == v.ID.Leader {
			s.decider, s.leader = i, i
		}
		s.members = append(s.members, member{Incarnation: m, st: s.streamsOf(m.Node), promise: minTime, usable: minTime, latest: minTime})
	}
	s.predictor.begin(len(v.Members))
	s.quorate = s.cfg.Quorum == nil || s.cfg.Quorum.IsQuorum(v.Set)
	s.log.clear()
	s.known, s.have, s.full, s.released, s.position = 0, 0, 0, 0, 0
	s.ordered, s.stable, s.covered = minTime, [atomicities]uint64{}, [atomicities]uint64{}
	s.stamp, s.floor, s.farthest, s.cut = minTime, minTime, minTime, 0
	s.reported = [atomicities]uint64{}
	s.cursor, s.deferred.heap = cursor{next: 1}, s.deferred.heap[:0]
	s.logGap, s.gapDue, s.freeze = gap{}, timed.Never, freeze{}
	s.reservations, s.served = [classes]reservation{}, 0
	s.urgent, s.unacked, s.ackedHave, s.moved, s.slow.acked = false, 0, 0, true, 0
}
