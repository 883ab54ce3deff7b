package broadcast

import (
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/timed"
)

// Largest sizes, in bytes, of the parts of a packet beside payloads. They are estimates
// that keep packets near PacketBytes.
const (
	runWeight      = 48
	lengthWeight   = 3
	decisionWeight = 38
	rangeWeight    = 12
	// smallDecision is the room for a decision in a packet that is full of messages.
	smallRanges   = 8
	smallDecision = decisionWeight + smallRanges*rangeWeight
)

// openPacket is the packet that is being filled, and its weight.
type openPacket struct {
	p      *Packet
	weight int
}

// sendOwn sends the messages that this node has broadcast. The last packet stays open for
// a decision.
func (s *Service) sendOwn(reading clocksync.Reading, out []Effect) []Effect {
	if !s.unsent() {
		return out
	}
	if len(s.members) == 1 {
		s.sent = s.own
		s.noteOwn(reading)
		return out
	}
	from := s.sent
	s.sent = s.own
	header := s.header(reading)
	var l openPacket
	for c := range classes {
		st := &s.streamsOf(s.cfg.Self.Node)[c]
		for seq := from[c] + 1; seq <= s.own[c]; {
			l, out = s.pack(l, header, timed.NoNode, st, c, s.cfg.Self.Node, &seq, s.own[c], out)
		}
	}
	s.noteOwn(reading)
	return out
}

// noteOwn makes the promise of this node's last header count.
func (s *Service) noteOwn(reading clocksync.Reading) {
	me := &s.members[s.me]
	me.notePromise(s.promiseNow(reading), s.sent[ClassOrdered])
}

// pack adds messages of a stream, from *seq on, to the open packet and moves *seq behind
// them. Messages that do not fit go into a new packet.
func (s *Service) pack(l openPacket, h Header, to timed.NodeID, st *stream, c Class, sender timed.NodeID,
	seq *uint64, last uint64, out []Effect) (openPacket, []Effect) {
	first := st.at(*seq)
	need := runWeight + int(first.size) + lengthWeight
	if l.p == nil || l.weight > 0 && l.weight+need > s.cfg.PacketBytes+runWeight || len(l.p.Runs) == MostRuns {
		l = openPacket{p: s.take()}
		l.p.Header = h
		out = append(out, Effect{Kind: Send, Peer: to, Packet: l.p})
	}
	r := Run{Sender: sender, Boot: st.boot, Class: c, First: *seq, Count: 1, Size: first.size,
		Options: Options{first.flags.order(), first.flags.atomicity()},
		Begins:  first.flags&begins != 0, Ends: first.flags&ends != 0, Stamp: first.stamp, Deviation: first.dev}
	weight := need
	bytes, uniform := first.size, true
	for n := *seq + 1; n <= last && r.Count < MaxRun; n++ {
		e := st.at(n)
		if e.flags != first.flags || e.stamp != first.stamp || e.dev != first.dev ||
			e.home != first.home || e.off != first.off+bytes ||
			l.weight+weight+int(e.size)+lengthWeight > s.cfg.PacketBytes+runWeight {
			break
		}
		uniform = uniform && e.size == first.size
		bytes += e.size
		weight += int(e.size) + lengthWeight
		r.Count++
	}
	r.Payload = first.home.buf[first.off : first.off+bytes]
	if !uniform {
		r.Size, r.Sizes = 0, l.p.Lengths(r.Count)
		for i := range r.Sizes {
			r.Sizes[i] = st.at(*seq + uint64(i)).size
		}
	}
	l.p.Runs = append(l.p.Runs, r)
	l.weight += weight
	*seq += uint64(r.Count)
	return l, out
}

// mayDecide reports whether this node may issue the next decision and has messages to
// order.
func (s *Service) mayDecide() bool {
	if !s.decides() {
		return false
	}
	if s.countRanges(1) > 0 {
		return true
	}
	if len(s.deferred.heap) == 0 {
		return false
	}
	if !s.mayOrder() {
		return s.frees()
	}
	// A message that an earlier floor has let through waits for its atomicity, and
	// another floor does not help.
	first := s.deferred.heap[0].stamp
	return s.stampsAhead() || first >= s.ordered && first < s.floorOf()
}

// setAside is how many places at the end of the log are for decisions that order no message. A
// message that waits for a smaller floor keeps its place, and only another decision raises the
// floor: without a place for that, a log full of messages would stay full. The members may pass
// the role on once, until it is at one that knows a larger floor. One decision cuts stamps that
// are far ahead, and one raises the floor.
func (s *Service) setAside() uint64 { return uint64(len(s.members)) + 2 }

// mayOrder reports whether the next decision may order messages.
func (s *Service) mayOrder() bool { return s.known+1+s.setAside() <= s.released+logSize }

// frees reports whether a decision without messages gets the log its first place back: by its
// floor, it lets all messages through that wait there. A decision that lets others through would
// take the last places, and the first one would stay.
func (s *Service) frees() bool {
	first := s.released + 1
	if first > s.known || s.log.at(first).left == 0 {
		return false
	}
	last := minTime
	for i := range s.deferred.heap {
		if a := &s.deferred.heap[i]; a.decision == first {
			last = max(last, a.stamp)
		}
	}
	return s.stampsAhead() || last >= s.ordered && last < s.floorOf()
}

// decides reports whether this node may issue the next decision: it is the decider, it
// knows and holds all earlier decisions, and the log is not full of unstable decisions.
func (s *Service) decides() bool {
	return s.view != nil && !s.frozen() && s.decider == s.me && s.known+1 <= s.released+logSize &&
		s.known == s.have
}

// orderable returns the last message of a member that a decision of this node can order:
// the last whole message that is held and, for this node itself, sent. It is 0 if the decision
// may order none.
func (s *Service) orderable(i int, m *member, c Class) uint64 {
	if c == ClassOrdered && !s.quorate {
		return 0
	}
	if !s.mayOrder() {
		return 0
	}
	st := m.stream(c)
	to := st.whole
	if i == s.me {
		to = min(to, s.sent[c]) // the last sent fragment ends a message
	}
	return to
}

// turning reports whether this node passes the role on without messages to order. Members
// do so until each has issued a decision after the last one that ordered messages, and so
// has acknowledged that one.
func (s *Service) turning() bool {
	return s.decides() && s.full > 0 && s.known < s.full+uint64(len(s.members)) && len(s.members) > 1
}

// countRanges returns the number of ranges to order, or most if that is less.
func (s *Service) countRanges(most int) (n int) {
	for i := range s.members {
		for c := range classes {
			if m := &s.members[i]; s.orderable(i, m, c) > m.stream(c).ordered {
				if n++; n == most {
					return n
				}
			}
		}
	}
	return n
}

// roomFor reports whether a decision with some ranges fits into a packet with messages.
func (s *Service) roomFor(p *Packet, ranges int) bool {
	if len(p.Decisions) > 0 {
		return false
	}
	weight := decisionWeight + rangeWeight*ranges
	if weight <= smallDecision {
		return true
	}
	for i := range p.Runs {
		weight += runWeight + len(p.Runs[i].Payload) + lengthWeight*p.Runs[i].Count
	}
	return weight <= s.cfg.PacketBytes+smallDecision
}

// skipped returns the members whose messages the next decisions order, because a packet
// does not hold so many ranges. A decider begins with itself, so that no member is always
// left out.
func (s *Service) skipped(ranges int) (skip timed.Set) {
	room := (s.cfg.PacketBytes - decisionWeight) / rangeWeight
	if ranges <= room {
		return skip
	}
	for k := range s.members {
		i := (s.me + k) % len(s.members)
		m := &s.members[i]
		for c := range classes {
			if s.orderable(i, m, c) > m.stream(c).ordered {
				room--
			}
		}
		if room < 0 {
			skip.Add(m.Node)
		}
	}
	return skip
}

// decide issues the next decision, in the last packet of the turn if it fits there.
func (s *Service) decide(now timed.Instant, reading clocksync.Reading, out []Effect) []Effect {
	if s.view != nil && s.decider == s.me && len(s.deferred.heap) > 0 {
		s.noteOwn(reading)
	}
	if !s.mayDecide() && !(s.turning() && now >= s.since.Add(s.cfg.Timing.ElectionPeriod)) {
		return out
	}
	count := int(classes) * len(s.members)
	if count > smallRanges {
		count = s.countRanges(count)
	}
	var p *Packet
	if k := len(out); k > 0 && out[k-1].Kind == Send && out[k-1].Peer == timed.NoNode && s.roomFor(out[k-1].Packet, count) {
		p = out[k-1].Packet
	} else {
		p = s.take()
		if len(s.members) > 1 {
			out = append(out, Effect{Kind: Send, Packet: p})
		}
	}
	d := Decision{Number: s.known + 1}
	ranges := p.Ranges(2 * len(s.members))[:0]
	skip := s.skipped(count)
	for i := range s.members {
		if skip.Has(s.members[i].Node) {
			continue
		}
		m := &s.members[i]
		for c := range classes {
			st := m.stream(c)
			to := s.orderable(i, m, c)
			if to <= st.ordered {
				continue
			}
			ranges = append(ranges, Range{Member: uint8(i), Class: c, To: to, from: st.ordered + 1})
			d.Urgent = d.Urgent || st.urgent > st.ordered
			st.ordered = to
		}
	}
	d.Ranges, d.Next = ranges, s.successor(ranges)
	if s.stampsAhead() {
		d.Leeway = s.leeway()
	}
	s.ordered = max(s.ordered, s.floorOf())
	d.Floor = s.ordered
	for i := range ranges { // learn sets them again
		s.members[ranges[i].Member].stream(ranges[i].Class).ordered = ranges[i].from - 1
	}
	s.log.put(&d)
	s.learn(now)
	p.Header = s.header(reading)
	p.Decisions = append(p.Decisions, d)
	return out
}
