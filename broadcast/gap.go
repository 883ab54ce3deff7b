package broadcast

import (
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/timed"
)

// gap is messages or decisions that are known to exist and have not come. The node asks
// for them after a one-way timeout without progress. Asking at once, while packets merely
// overtake each other, would take four times the requests. Each peer has the time of a
// fast message to answer before the node asks the next.
type gap struct {
	due   timed.Instant // when to ask; 0: there is no gap
	at    uint64        // progress when the gap was noticed
	tries int
}

// note compares the progress with its goal.
func (g *gap) note(at, want uint64, wait timed.Instant) {
	switch {
	case at >= want:
		*g = gap{}
	case g.due == 0 || g.at != at:
		*g = gap{due: wait, at: at}
	}
}

// maxWants is how many missing ranges of a stream one request names.
const maxWants = 16

// wantWeight bounds the bytes of a requested range in a packet.
const wantWeight = 1 + 2 + 9 + 1 + 9 + 9

// wanted returns the last message of a member that is known to exist. A frozen node wants
// only the messages in the plan.
func (s *Service) wanted(i int, c Class) uint64 {
	m := &s.members[i]
	st := m.stream(c)
	if !s.freeze.on {
		return max(st.top, st.tail, st.ordered)
	}
	g := s.freeze.group
	if g == nil {
		return 0
	}
	to := st.ordered
	if c == ClassUnordered {
		if f := s.freeze.fills[i]; f != nil {
			to = max(to, f.To)
		}
	}
	return to
}

// wantedLog returns the last decision that is known to exist.
func (s *Service) wantedLog() uint64 {
	if s.freeze.on {
		if s.freeze.group == nil {
			return 0
		}
		return s.freeze.group.End
	}
	last := uint64(0)
	for i := range s.members {
		last = max(last, s.members[i].known)
	}
	return last
}

// noteGaps looks for missing messages and decisions.
func (s *Service) noteGaps(now timed.Instant) {
	wait := now.Add(s.cfg.Timing.OneWayTimeout)
	for i := range s.members {
		if i == s.me {
			continue
		}
		for c := range classes {
			st := s.members[i].stream(c)
			st.gap.note(st.contig, s.wanted(i, c), wait)
			if st.gap.due != 0 {
				s.gapDue = timed.Earlier(s.gapDue, st.gap.due)
			}
		}
	}
	s.logGap.note(s.known, s.wantedLog(), wait)
	if s.logGap.due != 0 {
		s.gapDue = timed.Earlier(s.gapDue, s.logGap.due)
	}
}

// ask sends the requests that are due.
func (s *Service) ask(now timed.Instant, reading clocksync.Reading, out []Effect) []Effect {
	if now < s.gapDue {
		return out
	}
	s.gapDue = timed.Never
	s.noteGaps(now)
	if s.gapDue > now {
		return out
	}
	s.gapDue = timed.Never
	s.requests = s.requests[:0]
	for range s.members {
		s.requests = append(s.requests, nil)
	}
	again := now.Add(s.cfg.Timing.FastThreshold)
	for i := range s.members {
		for c := range classes {
			st := s.members[i].stream(c)
			g := &st.gap
			if i == s.me || g.due == 0 {
				continue
			}
			if now >= g.due {
				var p *Packet
				if p, out = s.request(s.target(i, c, g.tries), reading, out); p != nil {
					st.missing(p, s.members[i].Incarnation, c, s.wanted(i, c))
				}
				g.due, g.tries = again, g.tries+1
			}
			s.gapDue = timed.Earlier(s.gapDue, g.due)
		}
	}
	if g := &s.logGap; g.due != 0 {
		if now >= g.due {
			var p *Packet
			if p, out = s.request(s.logTarget(g.tries), reading, out); p != nil {
				p.Log = Span{From: s.known + 1, To: s.wantedLog()}
			}
			g.due, g.tries = again, g.tries+1
		}
		s.gapDue = timed.Earlier(s.gapDue, g.due)
	}
	return out
}

// request returns the packet that asks the i-th member, with room for the gaps of a
// stream, or nil if there is no member to ask.
func (s *Service) request(i int, reading clocksync.Reading, out []Effect) (*Packet, []Effect) {
	if i < 0 || i == s.me {
		return nil, out
	}
	room := min(s.cfg.PacketBytes/wantWeight, MostWants)
	if p := s.requests[i]; p == nil || len(p.Wants) > 0 && len(p.Wants)+maxWants > room {
		s.requests[i] = s.Blank(reading)
		out = append(out, Effect{Kind: Send, Peer: s.members[i].Node, Packet: s.requests[i]})
	}
	return s.requests[i], out
}

// missing lists the missing messages up to want.
func (st *stream) missing(p *Packet, of timed.Incarnation, c Class, want uint64) {
	n := 0
	for seq := st.contig + 1; seq <= want && n < maxWants; {
		if st.has(seq) {
			seq++
			continue
		}
		from := seq
		if seq > st.top {
			seq = want + 1
		} else {
			for seq <= want && seq <= st.top && !st.has(seq) {
				seq++
			}
		}
		p.Wants = append(p.Wants, Want{Sender: of.Node, Boot: of.Boot, Class: c, From: from, To: seq - 1})
		n++
	}
}

// target returns the member to ask for messages of member i: the sender first, and then
// the others in turn, beginning with those that have acknowledged the messages. In a flush
// the plan names the holder, whom the node asks first.
func (s *Service) target(i int, c Class, tries int) int {
	if s.freeze.on {
		g := s.freeze.group
		st := s.members[i].stream(c)
		if f := s.freeze.fills[i]; f != nil && c == ClassUnordered && st.contig >= st.ordered {
			return s.flushTarget(f.Holder, tries)
		}
		return s.flushTarget(g.Source, tries)
	}
	n := len(s.members)
	start := (i + tries) % n
	if st := s.members[i].stream(c); tries > 0 && st.contig < st.ordered {
		for j := range n {
			if k := (start + j) % n; k != s.me && s.members[k].ack > s.have {
				return k
			}
		}
	}
	return s.next(start)
}

// logTarget returns the member to ask for decisions: those that know more, in turn.
func (s *Service) logTarget(tries int) int {
	if s.freeze.on {
		return s.flushTarget(s.freeze.group.Source, tries)
	}
	n := len(s.members)
	for j := range n {
		if k := (s.decider + tries + j) % n; k != s.me && s.members[k].known > s.known {
			return k
		}
	}
	return -1
}

// flushTarget returns the member to ask in a flush: the one that the plan names, then the leader,
// which hears this node, and then all in turn. The one that is named may be out of reach, and
// the view waits until every member has what the plan assigns to it. Who lacks it does not answer.
func (s *Service) flushTarget(named timed.NodeID, tries int) int {
	if tries == 0 {
		return s.indexOfNode(named)
	}
	if leader := s.indexOfNode(s.freeze.proposal.Leader); tries == 1 && leader >= 0 && leader != s.me {
		return leader
	}
	return s.next(s.me + tries)
}

// next returns the index at or behind i, modulo the number of members, of another member.
func (s *Service) next(i int) int {
	if i %= len(s.members); i == s.me {
		i = (i + 1) % len(s.members)
	}
	return i
}

// indexOfNode returns the index of a node in the view, or -1.
func (s *Service) indexOfNode(id timed.NodeID) int {
	for i := range s.members {
		if s.members[i].Node == id {
			return i
		}
	}
	return -1
}
