package broadcast

import "github.com/failaware/failaware/timed"

// HandlePacket takes the packet of a peer's accepted incarnation, fast or slow.
// HandleTimeout becomes due at once and returns the effects, so that a batch of packets
// has one answer.
func (s *Service) HandlePacket(now timed.Instant, from timed.Incarnation, p *Packet, out []Effect) []Effect {
	i := -1
	if s.view != nil && p.View == s.view.ID {
		i = s.index(from)
	}
	for j := range p.Runs {
		s.handleRun(&p.Runs[j])
	}
	if i >= 0 {
		s.members[i].here = true
		for j := range p.Decisions {
			s.handleDecision(now, &p.Decisions[j])
		}
		s.handleHeader(i, &p.Header)
		s.noteGaps(now)
	} else if !p.View.None() {
		s.Dropped.OtherView++
	}
	for j := range p.Wants {
		s.handleWant(from, p.Wants[j])
	}
	if p.Log.From > 0 && i >= 0 {
		s.handleLogWant(from, p.Log)
	}
	switch {
	case p.Report != nil:
		s.handleReport(now, from, p.Report)
	case p.Plan != nil:
		s.handlePlan(now, from, p.Plan)
	case p.Commit != nil:
		s.handleCommit(from, p.Commit)
	}
	if !p.Done.None() {
		s.handleDone(from, p.Done)
	}
	if len(p.Runs) > 0 || len(p.Decisions) > 0 {
		s.advance()
	}
	return out
}

// handleRun keeps the messages of a run. They name their sender but no view, so that
// messages that are not ordered when a view ends are there for the next one.
func (s *Service) handleRun(r *Run) {
	sts := s.streams[r.Sender]
	if sts == nil || sts[r.Class].boot != r.Boot || r.Sender == s.cfg.Self.Node {
		s.Dropped.Stranger++
		return
	}
	st := &sts[r.Class]
	// A sender's window moves with acknowledgements. Messages are dropped once all
	// members are known to have acknowledged them. So a node holds up to two windows
	// of a sender, and up to two more to finish a view.
	windows := 2
	if s.freeze.on {
		windows = 4
	}
	most := windows * s.cfg.MaxMessages
	if st.bytes+len(r.Payload) > windows*s.limit() || r.First > st.floor+uint64(most) || len(r.Payload) > chunkSize {
		s.Dropped.Overflow++
		return
	}
	whole := st.whole
	if st.put(&s.arena, r, most) {
		s.unacked += len(r.Payload) + perMessage*r.Count
		s.moved = s.moved || st.whole > whole && r.Class == ClassUnordered
	}
}

// handleHeader takes the header of a member in this view.
func (s *Service) handleHeader(i int, h *Header) {
	m := &s.members[i]
	for c := range classes {
		st := m.stream(c)
		st.tail = max(st.tail, min(h.Tails[c], st.floor+uint64(2*s.cfg.MaxMessages)))
	}
	if s.frozen() {
		return // the commit may not cover later headers
	}
	m.known = max(m.known, h.Known)
	m.notePromise(h.Floor, h.Tails[ClassOrdered])
	news := s.noteStable(h.Stable)
	if h.Have > m.ack || news {
		m.ack = max(m.ack, h.Have)
		s.restable()
	}
}

// handleDecision keeps a decision of this view.
func (s *Service) handleDecision(now timed.Instant, d *Decision) {
	if d.Number <= s.known || d.Number > s.released+logSize || s.log.has(d.Number) {
		return
	}
	if int(d.Next) >= len(s.members) || !s.rangesValid(d) {
		s.Dropped.Invalid++
		return
	}
	if !s.mayLearn(d.Number) {
		return
	}
	s.log.put(d)
	s.learn(now)
}

// mayLearn reports whether a decision still counts. A frozen node takes only the decisions
// of the plan.
func (s *Service) mayLearn(number uint64) bool {
	return !s.frozen() || s.freeze.group != nil && number <= s.freeze.group.End
}

// rangesValid reports whether the ranges are of members, in order and without repetition.
func (s *Service) rangesValid(d *Decision) bool {
	last := -1
	for i := range d.Ranges {
		r := &d.Ranges[i]
		at := int(r.Member)*int(classes) + int(r.Class)
		if int(r.Member) >= len(s.members) || r.Class >= classes || at <= last {
			return false
		}
		last = at
	}
	return true
}

// learn advances known over the decisions that are now held, and then advances have.
func (s *Service) learn(now timed.Instant) {
	for s.log.has(s.known+1) && s.mayLearn(s.known+1) {
		s.known++
		sl := s.log.at(s.known)
		for i := range sl.Ranges {
			r := &sl.Ranges[i]
			st := s.members[r.Member].stream(r.Class)
			r.from, st.ordered = st.ordered+1, max(st.ordered, r.To)
		}
		if len(sl.Ranges) > 0 {
			s.full = s.known
			s.predictor.note(sl.Ranges)
		}
		s.ordered = max(s.ordered, sl.Floor)
		if sl.Leeway > 0 {
			s.cut = s.known
		}
		s.decider, s.since = int(sl.Next), now
	}
	s.advance()
}

// advance advances have over the decisions whose messages are all held.
func (s *Service) advance() {
	limit := s.known
	if s.frozen() {
		// Only the messages of the plan count after the report.
		if s.freeze.group == nil {
			return
		}
		limit = min(limit, s.freeze.group.End)
	}
	before := s.have
	for s.have < limit && s.holds(s.log.at(s.have+1).Ranges) {
		s.have++
		sl := s.log.at(s.have)
		for i := range sl.Ranges {
			r := &sl.Ranges[i]
			s.members[r.Member].stream(r.Class).through = r.To
		}
		s.urgent = s.urgent || sl.Urgent
	}
	if s.have > before {
		s.moved = true
		s.members[s.me].ack = s.acknowledged()
		s.restable()
	}
	s.checkFlushed()
}

// holds reports whether this node holds all messages up to the ends of the ranges.
func (s *Service) holds(ranges []Range) bool {
	for i := range ranges {
		if r := &ranges[i]; s.members[r.Member].stream(r.Class).contig < r.To {
			return false
		}
	}
	return true
}
