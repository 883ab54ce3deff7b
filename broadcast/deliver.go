package broadcast

import "github.com/failaware/failaware/clocksync"

// cursor is the position of ordered delivery in the log: a decision, its range, and the
// message in the range.
type cursor struct {
	next uint64
	at   int
	seq  uint64
}

// deliver delivers messages that may be delivered and drops those no longer needed.
func (s *Service) deliver(out []Effect) []Effect {
	if !s.moved {
		return out
	}
	s.moved = false
	s.cover()
	from := len(s.deliveries)
	s.deliverOrdered(false)
	for i := range s.members {
		s.deliverUnordered(i, s.members[i].stream(ClassUnordered).whole, false)
	}
	out = s.handOut(from, out)
	s.release()
	return out
}

// handOut appends the effects for the deliveries since from.
func (s *Service) handOut(from int, out []Effect) []Effect {
	out = append(out, s.ahead...)
	s.ahead = s.ahead[:0]
	if from == len(s.deliveries) {
		return out
	}
	batch := s.deliveries[from:len(s.deliveries):len(s.deliveries)]
	for i := range batch {
		s.slow.backlog += len(batch[i].Payload) + perMessage
	}
	return append(out, Effect{Kind: Deliver, View: s.view, Deliveries: batch})
}

// mayDeliver reports whether a message of a decision has reached its atomicity.
func (s *Service) mayDeliver(a Atomicity, decision uint64, transitional bool) bool {
	return transitional || decision <= s.stable[a]
}

// deliverOrdered walks the log. A message that waits holds back all messages behind it.
//
// Timed messages are deferred when their decision comes. The first decision whose floor is
// above their stamps delivers them, in the order of stamps. A Total message behind a
// deferred one of its own sender is deferred too, because otherwise the sender's messages
// would overtake each other. For the same reason no message counts as stamped before the
// one that its sender sent before it. A decision may cut stamps that are far ahead. All of
// this follows from the log alone, so it is the same at all members.
func (s *Service) deliverOrdered(transitional bool) {
	c := &s.cursor
	for c.next <= s.have {
		sl := s.log.at(c.next)
		for ; c.at < len(sl.Ranges); c.at, c.seq = c.at+1, 0 {
			r := &sl.Ranges[c.at]
			if r.Class != ClassOrdered {
				continue
			}
			m := &s.members[r.Member]
			st := m.stream(ClassOrdered)
			if c.seq == 0 {
				c.seq = r.from
			}
			for c.seq <= r.To {
				e := st.at(c.seq)
				if e.flags.order() == TimedOrder || m.waiting > 0 {
					m.latest = max(m.latest, e.stamp)
					s.farthest = max(s.farthest, m.latest)
					s.deferred.push(deferredMessage{stamp: m.latest, seq: c.seq, decision: c.next, member: r.Member})
					m.waiting++
					sl.left++
					c.seq = st.end(c.seq) + 1
					continue
				}
				if !s.mayDeliver(e.flags.atomicity(), c.next, transitional) {
					return
				}
				c.seq = s.emit(int(r.Member), ClassOrdered, c.seq, transitional) + 1
			}
		}
		if sl.Leeway > 0 {
			s.cutStamps(sl.Floor + clocksync.Time(sl.Leeway))
		}
		for len(s.deferred.heap) > 0 && s.deferred.heap[0].stamp < sl.Floor {
			if !s.deliverDeferred(c.next, transitional) {
				return
			}
		}
		c.next++
		c.at, c.seq = 0, 0
	}
}

// deliverDeferred delivers the first deferred message, by a decision.
func (s *Service) deliverDeferred(decision uint64, transitional bool) bool {
	a := &s.deferred.heap[0]
	m := &s.members[a.member]
	if !s.mayDeliver(m.stream(ClassOrdered).at(a.seq).flags.atomicity(), decision, transitional) {
		return false
	}
	s.emit(int(a.member), ClassOrdered, a.seq, transitional)
	if d := &s.deliveries[len(s.deliveries)-1]; d.Order == TimedOrder {
		d.Stamp, d.Deviation = a.stamp, wider(d.Deviation, d.Stamp, a.stamp)
	}
	m.waiting--
	s.log.at(a.decision).left--
	s.deferred.pop()
	return true
}

// deliverUnordered delivers a member's Unordered messages up to sequence to, in the order
// of sending.
func (s *Service) deliverUnordered(i int, to uint64, transitional bool) {
	st := s.members[i].stream(ClassUnordered)
	for st.delivered < to {
		next := st.delivered + 1
		a := st.at(next).flags.atomicity()
		if !transitional && (a == StrongAtomicity && next > st.majority || a == StrictAtomicity && next > st.all) {
			return
		}
		st.delivered = s.emit(i, ClassUnordered, next, transitional)
	}
}

// emit delivers the message that begins with seq and returns its last sequence.
func (s *Service) emit(i int, c Class, seq uint64, transitional bool) uint64 {
	m := &s.members[i]
	st := m.stream(c)
	e := st.at(seq)
	last := seq
	home, payload := e.home, e.payload()
	if e.flags&(begins|ends) != begins|ends {
		last = st.end(seq)
		home, payload = s.join(st, seq, last)
	}
	if len(payload) > 0 {
		s.keep(home)
	} else {
		home = nil
	}
	d := Delivery{ID: ID{Sender: m.Node, Boot: m.Boot, Class: c, Sequence: last},
		Options:      Options{e.flags.order(), e.flags.atomicity()},
		Transitional: transitional, Stamp: e.stamp, Deviation: e.dev, Payload: payload, home: home}
	if c == ClassOrdered {
		s.position++
		d.Position = s.position
	}
	s.deliveries = append(s.deliveries, d)
	return last
}
