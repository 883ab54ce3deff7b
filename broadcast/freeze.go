package broadcast

import (
	"slices"
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// freeze is the state of a view change. From the acknowledgement of a proposal to the end
// of the old view, a node issues and accepts no decision, does not acknowledge late
// messages, ignores the acknowledgements of others, and delivers nothing. It leaves the
// view with the messages that it has reported and those that the plan makes it fetch. If
// the proposal dies the node stays frozen, because another proposal follows.
type freeze struct {
	on       bool
	proposal membership.ViewID // acknowledged last
	report   []*Report         // in pieces
	share    int               // pieces of the report that go at once
	at       int               // the piece, or the order of the leader, that is next
	group    *Group            // the part of the plan for members from this view
	fills    []*Fill           // what this node lacks by that, by the sender's index in this view
	planned  bool              // the plan has come
	done     bool              // this node has everything that the plan assigns to it
	commit   *Commit           // of the proposal
	plans    assembly[Plan]
	commits  assembly[Commit]
	news     bool // there is something to send at once
	due      timed.Instant

	// At the proposal's leader.
	lead    bool
	view    *membership.View
	reports []*Report // by the members' positions in view
	parts   []assembly[Report]
	missing int       // reports
	orders  []order   // the plan
	terms   []*Commit // in pieces
	lacking timed.Set
	told    timed.Set // members that have said that they lack nothing
	flushed bool
}

// order is a piece of a plan for one member.
type order struct {
	to   timed.NodeID
	plan *Plan
}

// flushPackets is how many packets of a flush the leader of a proposal gets, and sends, in a
// one-way timeout. The members of a large group have thousands: together, they would fill
// buffers on the way, and the same would happen to those that are sent again.
const flushPackets = 256

// pace returns which of a number of packets are next, of which some go at once. Those behind
// them are due after a one-way timeout, and all again after two.
func (f *freeze) pace(now timed.Instant, number, atOnce int, oneWay time.Duration) (from, to int) {
	from, to = f.at, min(f.at+atOnce, number)
	if f.at, f.due = to, now.Add(oneWay); to == number {
		f.at, f.due = 0, now.Add(2*oneWay)
	}
	return from, to
}

// Freeze freezes the node when it acknowledges a proposal. lead says that the proposal is
// its own.
func (s *Service) Freeze(now timed.Instant, p *membership.View, lead bool) {
	s.updateMarks()
	r := &Report{Proposal: p.ID, Sent: s.shown, Ordered: s.marks[ClassOrdered].list(), Unordered: s.marks[ClassUnordered].list()}
	if s.view != nil {
		r.Previous, r.Have, r.Stable = s.view.ID, s.have, s.stableNow()
		for i := range s.members {
			m := &s.members[i]
			r.Acks = append(r.Acks, Mark{m.Node, m.Boot, m.ack})
		}
	}
	s.freeze = freeze{on: true, proposal: p.ID, report: cutReport(r, s.cfg.PacketBytes), news: true, due: now, lead: lead}
	n := max(1, len(p.Members)) // a lead that ends in the turn in which it begins proposes nobody
	if s.freeze.share = max(1, flushPackets/n); len(s.freeze.report) > s.freeze.share {
		// The members share the time too.
		s.freeze.news, s.freeze.due = false, now.Add(s.cfg.Timing.OneWayTimeout*time.Duration(p.Set.Rank(s.cfg.Self.Node))/time.Duration(n))
	}
	if lead {
		f := &s.freeze
		f.view, f.missing = p, len(p.Members)
		f.reports, f.parts = make([]*Report, f.missing), make([]assembly[Report], f.missing)
		for _, r := range f.report {
			s.handleReport(now, s.cfg.Self, r)
		}
	}
}

// actFrozen sends the messages of a view change, repeatedly until the view is installed.
func (s *Service) actFrozen(now timed.Instant, reading clocksync.Reading, out []Effect) []Effect {
	f := &s.freeze
	s.moved, s.urgent = false, false
	if !f.on {
		return out
	}
	if now >= f.due || f.news {
		f.news, f.due = false, now.Add(2*s.cfg.Timing.OneWayTimeout)
		switch {
		case f.lead && f.orders != nil && !f.flushed:
			out = s.sendPlan(now, reading, out)
		case f.lead:
			f.due = timed.Never // the members report, or the flush is over
		case f.done:
			p := s.Blank(reading)
			p.Done = f.proposal
			out = append(out, Effect{Kind: Send, Peer: f.proposal.Leader, Packet: p})
		case !f.planned:
			from, to := f.pace(now, len(f.report), f.share, s.cfg.Timing.OneWayTimeout)
			for _, r := range f.report[from:to] {
				p := s.Blank(reading)
				p.Report = r
				out = append(out, Effect{Kind: Send, Peer: f.proposal.Leader, Packet: p})
			}
		}
	}
	return s.ask(now, reading, out)
}

// sendPlan sends pieces of the plan to the members that have not said that they have
// everything.
func (s *Service) sendPlan(now timed.Instant, reading clocksync.Reading, out []Effect) []Effect {
	f := &s.freeze
	if f.at == 0 {
		f.orders = slices.DeleteFunc(f.orders, func(o order) bool { return f.told.Has(o.to) })
	}
	from, to := f.pace(now, len(f.orders), flushPackets, s.cfg.Timing.OneWayTimeout)
	for _, o := range f.orders[from:to] {
		p := s.Blank(reading)
		p.Plan = o.plan
		out = append(out, Effect{Kind: Send, Peer: o.to, Packet: p})
	}
	return out
}

// handlePlan takes the plan of the proposal's leader and follows it once all its pieces
// are here.
func (s *Service) handlePlan(now timed.Instant, from timed.Incarnation, p *Plan) {
	f := &s.freeze
	if !f.on || f.planned || p.Proposal != f.proposal || from.Node != f.proposal.Leader || from.Boot != f.proposal.Boot {
		return
	}
	if p.Valid() && f.plans.put(p.Piece, p) {
		s.follow(now, joinPlan(f.plans.pieces))
	}
}

// follow does this node's part of a plan.
func (s *Service) follow(now timed.Instant, p *Plan) {
	f := &s.freeze
	f.planned = true
	g := (*Group)(nil)
	for i := range p.Groups {
		if s.view != nil && p.Groups[i].Previous == s.view.ID {
			g = &p.Groups[i]
		}
	}
	if g == nil || g.End < s.have {
		return
	}
	f.group = g
	f.fills = make([]*Fill, len(s.members))
	for i := range g.Fill {
		if fl := &g.Fill[i]; fl.Member == s.cfg.Self.Node {
			if k := s.indexOfNode(fl.Sender); k >= 0 {
				f.fills[k] = fl
			}
		}
	}
	s.truncate(g.End)
	s.learn(now) // decisions that an earlier plan left out may be here
	if g.Source == s.cfg.Self.Node {
		for _, l := range g.Lack {
			if l.Have < g.End && l.Node != s.cfg.Self.Node {
				s.answers = append(s.answers, answer{to: l.Node, log: Span{l.Have + 1, min(g.End, s.known)}, full: true})
			}
		}
	}
	for _, fl := range g.Fill {
		if fl.Holder == s.cfg.Self.Node && fl.Member != s.cfg.Self.Node {
			s.answers = append(s.answers, answer{to: fl.Member, want: Want{fl.Sender, fl.Boot, ClassUnordered, fl.From + 1, fl.To}})
		}
	}
	s.noteGaps(now)
}

// frozen reports whether this node is frozen in its view, because it has acknowledged a
// proposal for the next.
func (s *Service) frozen() bool { return s.freeze.on }

// truncate forgets decisions after the end of the view.
func (s *Service) truncate(end uint64) {
	s.known = min(s.known, end)
	for i := range s.members {
		for c := range classes {
			st := s.members[i].stream(c)
			st.ordered = st.through
		}
	}
	for k := s.have + 1; k <= s.known; k++ {
		sl := s.log.at(k)
		for i := range sl.Ranges {
			r := &sl.Ranges[i]
			st := s.members[r.Member].stream(r.Class)
			st.ordered = max(st.ordered, r.To)
		}
	}
}

// checkFlushed checks whether this node has everything that the plan assigns to it.
func (s *Service) checkFlushed() {
	f := &s.freeze
	if !f.on || f.group == nil || f.done || s.have != f.group.End {
		return
	}
	for _, fl := range f.group.Fill {
		if fl.Member != s.cfg.Self.Node {
			continue
		}
		i := s.indexOfNode(fl.Sender)
		if i < 0 || s.members[i].Boot != fl.Boot {
			return
		}
		if st := s.members[i].stream(ClassUnordered); st.contig < fl.To {
			return
		}
	}
	for _, fl := range f.group.Fill {
		if fl.Member == s.cfg.Self.Node {
			st := s.members[s.indexOfNode(fl.Sender)].stream(ClassUnordered)
			st.reach = max(st.reach, fl.To)
		}
	}
	f.done, f.news = true, true
	if f.lead {
		s.handleDone(s.cfg.Self, f.proposal)
	}
}

// handleCommit keeps the terms of the view that this node has acknowledged last.
func (s *Service) handleCommit(from timed.Incarnation, c *Commit) {
	f := &s.freeze
	if f.on && c.Proposal == f.proposal && from.Node == f.proposal.Leader && from.Boot == f.proposal.Boot &&
		f.commit == nil && c.Valid() && f.commits.put(c.Piece, c) {
		f.commit = joinCommit(f.commits.pieces)
	}
}

// CanInstall reports whether this node can install a view: it has acknowledged the view
// last, the terms have come, and the node holds all messages that they demand.
func (s *Service) CanInstall(id membership.ViewID) bool {
	f := &s.freeze
	if !f.on || f.proposal != id || f.commit == nil {
		return false
	}
	if s.view == nil {
		return true
	}
	b := f.commit.branch(s.view.ID)
	return b != nil && b.End == s.have
}

// branch returns the end of a view, or nil.
func (c *Commit) branch(id membership.ViewID) *Branch {
	for i := range c.Branches {
		if c.Branches[i].Previous == id {
			return &c.Branches[i]
		}
	}
	return nil
}
