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
	pause    time.Duration     // between two of them; 0: all go at once
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
	told    timed.Set     // members that have said that they lack nothing
	patient timed.Instant // until then the members fetch what they lack
	flushed bool
}

// order is a piece of a plan for one member.
type order struct {
	to   timed.NodeID
	plan *Plan
}

// flushBytes bounds what the leader of a proposal gets, and sends, for a flush in a one-way
// timeout. The members of a large group have megabytes: together, these would fill buffers on the
// way, and so would what is sent again.
const flushBytes = 256 << 10

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
	s.pace(now, p, r.weight())
	if lead {
		f := &s.freeze
		f.view, f.missing = p, len(p.Members)
		f.reports, f.parts = make([]*Report, f.missing), make([]assembly[Report], f.missing)
		for _, r := range f.report {
			s.handleReport(now, s.cfg.Self, r)
		}
	}
}

// pace divides the time among the members of a large group: the piece of each that is next goes
// before the second next of any.
func (s *Service) pace(now timed.Instant, p *membership.View, weight int) {
	f, n := &s.freeze, len(p.Members)
	if n*weight > flushBytes {
		f.pause = s.cfg.Timing.OneWayTimeout * time.Duration(n*weight/flushBytes+1) / time.Duration(len(f.report))
		f.news, f.due = false, now.Add(f.pause*time.Duration(p.Set.Rank(s.cfg.Self.Node))/time.Duration(n))
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
			out = s.sendPlan(reading, out)
			if f.at > 0 {
				f.due = now.Add(s.cfg.Timing.OneWayTimeout)
			}
		case f.lead:
			f.due = timed.Never // the members report, or the flush is over
		case f.done:
			p := s.Blank(reading)
			p.Done = f.proposal
			out = append(out, Effect{Kind: Send, Peer: f.proposal.Leader, Packet: p})
		case !f.planned:
			for more := true; more; more = f.at > 0 && f.pause == 0 {
				p := s.Blank(reading)
				p.Report = f.report[f.at]
				out = append(out, Effect{Kind: Send, Peer: f.proposal.Leader, Packet: p})
				f.at = (f.at + 1) % len(f.report)
			}
			if f.at > 0 {
				f.due = now.Add(f.pause)
			}
		}
	}
	return s.ask(now, reading, out)
}

// sendPlan sends the next pieces of the plan to the members that have not said that they have
// everything.
func (s *Service) sendPlan(reading clocksync.Reading, out []Effect) []Effect {
	f := &s.freeze
	if f.at == 0 {
		f.orders = slices.DeleteFunc(f.orders, func(o order) bool { return f.told.Has(o.to) })
	}
	for left := flushBytes; f.at < len(f.orders) && left > 0; f.at++ {
		o := &f.orders[f.at]
		p := s.Blank(reading)
		p.Plan = o.plan
		out = append(out, Effect{Kind: Send, Peer: o.to, Packet: p})
		left -= o.plan.weight()
	}
	if f.at >= len(f.orders) {
		f.at = 0
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
