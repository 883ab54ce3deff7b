package broadcast

import (
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// Piece says which part of a report, plan or commit a message is. In a large group these
// do not fit into one packet. Packets that rely on IP fragments never arrive where those
// are dropped, so reports, plans and commits travel in pieces of up to PacketBytes. The
// whole is one piece of one.
type Piece struct {
	Number uint16 // from 0
	Of     uint16 // how many there are
}

// MaxPieces is more than any report, plan or commit takes in a group of the largest size
// and in the smallest packets.
const MaxPieces = 1 << 14

// Valid reports whether the piece is possible.
func (p Piece) Valid() bool { return p.Number < p.Of && p.Of <= MaxPieces }

// Largest sizes, in bytes, of the parts of reports, plans and commits in a packet.
const (
	viewWeight   = 9 + 2 + 9
	markWeight   = 1 + 2 + 9 + 9
	reportWeight = 1 + 6 + 2*viewWeight + 5*9 + 3*3
	planWeight   = 1 + 6 + viewWeight + 3
	groupWeight  = 1 + viewWeight + 9 + 2 + 2*3
	lackWeight   = 1 + 2 + 9
	fillWeight   = 1 + 2*2 + 2 + 3*9
	commitWeight = 1 + 6 + viewWeight + 3*3
	branchWeight = 1 + viewWeight + 3*9 + 3
)

// weight bounds the bytes of a report, as it does those of a plan and of terms.
func (r *Report) weight() int {
	return reportWeight + markWeight*(len(r.Acks)+len(r.Ordered)+len(r.Unordered))
}

func (p *Plan) weight() int {
	n := planWeight
	for i := range p.Groups {
		n += groupWeight + lackWeight*len(p.Groups[i].Lack) + fillWeight*len(p.Groups[i].Fill)
	}
	return n
}

func (c *Commit) weight() int {
	n := commitWeight + markWeight*(len(c.Ordered)+len(c.Unordered))
	for i := range c.Branches {
		n += branchWeight + markWeight*len(c.Branches[i].Acks)
	}
	return n
}

// cutter makes pieces one after the other, each as full as possible.
type cutter[T any] struct {
	bytes int      // room of a piece beside its common fields
	blank func() T // returns a piece with the common fields
	left  int
	out   []*T
}

// cut returns a cutter that has begun the first piece.
func cut[T any](bytes int, blank func() T) *cutter[T] {
	c := &cutter[T]{bytes: bytes, blank: blank}
	c.next()
	return c
}

func (c *cutter[T]) next() {
	t := c.blank()
	c.out, c.left = append(c.out, &t), c.bytes
}

// room returns the piece for the next part, which has a weight.
func (c *cutter[T]) room(weight int) *T {
	if c.left < weight {
		c.next()
	}
	c.left -= weight
	return c.out[len(c.out)-1]
}

// marks adds each mark of a list to the list of a piece.
func (c *cutter[T]) marks(list []Mark, in func(*T) *[]Mark) {
	for _, m := range list {
		to := in(c.room(markWeight))
		*to = append(*to, m)
	}
}

// done numbers and returns the pieces.
func (c *cutter[T]) done(piece func(*T) *Piece) []*T {
	for i, t := range c.out {
		*piece(t) = Piece{uint16(i), uint16(len(c.out))}
	}
	return c.out
}

// cutReport returns the pieces of a report for packets with room for some bytes.
func cutReport(r *Report, bytes int) []*Report {
	c := cut(bytes-reportWeight, func() Report {
		return Report{Proposal: r.Proposal, Previous: r.Previous, Have: r.Have, Stable: r.Stable, Sent: r.Sent}
	})
	c.marks(r.Acks, func(t *Report) *[]Mark { return &t.Acks })
	c.marks(r.Ordered, func(t *Report) *[]Mark { return &t.Ordered })
	c.marks(r.Unordered, func(t *Report) *[]Mark { return &t.Unordered })
	return c.done(func(t *Report) *Piece { return &t.Piece })
}

// continueGroup returns the last group of a plan if g continues it. Otherwise it adds a
// group that g begins.
func (p *Plan) continueGroup(g *Group) (to *Group, continued bool) {
	n := len(p.Groups)
	if continued = n > 0 && p.Groups[n-1].Previous == g.Previous; !continued {
		p.Groups = append(p.Groups, Group{Previous: g.Previous, End: g.End, Source: g.Source})
	}
	return &p.Groups[len(p.Groups)-1], continued
}

// continueBranch returns the last branch of the terms if b continues it. Otherwise it adds
// a branch that b begins.
func (c *Commit) continueBranch(b *Branch) (to *Branch, continued bool) {
	n := len(c.Branches)
	if continued = n > 0 && c.Branches[n-1].Previous == b.Previous; !continued {
		c.Branches = append(c.Branches, Branch{Previous: b.Previous, End: b.End, Stable: b.Stable})
	}
	return &c.Branches[len(c.Branches)-1], continued
}

// cutPlan returns the pieces of a plan. A group may continue in the next piece.
func cutPlan(p *Plan, bytes int) []*Plan {
	c := cut(bytes-planWeight, func() Plan { return Plan{Proposal: p.Proposal} })
	for i := range p.Groups {
		g := &p.Groups[i]
		at := func(weight int) *Group {
			to, continued := c.room(groupWeight + weight).continueGroup(g)
			if continued {
				c.left += groupWeight
			}
			return to
		}
		at(0)
		for _, l := range g.Lack {
			to := at(lackWeight)
			to.Lack = append(to.Lack, l)
		}
		for _, f := range g.Fill {
			to := at(fillWeight)
			to.Fill = append(to.Fill, f)
		}
	}
	return c.done(func(t *Plan) *Piece { return &t.Piece })
}

// cutCommit returns the pieces of the terms of a view. A branch may continue in the next
// piece.
func cutCommit(m *Commit, bytes int) []*Commit {
	c := cut(bytes-commitWeight, func() Commit { return Commit{Proposal: m.Proposal} })
	for i := range m.Branches {
		b := &m.Branches[i]
		at := func(weight int) *Branch {
			to, continued := c.room(branchWeight + weight).continueBranch(b)
			if continued {
				c.left += branchWeight
			}
			return to
		}
		at(0)
		for _, a := range b.Acks {
			to := at(markWeight)
			to.Acks = append(to.Acks, a)
		}
	}
	c.marks(m.Ordered, func(t *Commit) *[]Mark { return &t.Ordered })
	c.marks(m.Unordered, func(t *Commit) *[]Mark { return &t.Unordered })
	return c.done(func(t *Commit) *Piece { return &t.Piece })
}

// assembly collects the pieces of one report, plan or commit from one incarnation for one
// proposal. These never change, so pieces are kept while lost ones are sent again.
type assembly[T any] struct {
	pieces  []*T
	missing int
}

// put takes a piece and reports whether it completes the whole.
func (z *assembly[T]) put(p Piece, t *T) bool {
	if z.pieces == nil {
		z.pieces, z.missing = make([]*T, p.Of), int(p.Of)
	}
	if len(z.pieces) != int(p.Of) || z.pieces[p.Number] != nil {
		return false
	}
	z.pieces[p.Number] = t
	z.missing--
	return z.missing == 0
}

// joinReport returns the whole of a report. Pieces are not changed.
func joinReport(pieces []*Report) *Report {
	var r Report
	for _, p := range pieces {
		r.Proposal, r.Previous, r.Have, r.Stable, r.Sent = p.Proposal, p.Previous, p.Have, p.Stable, p.Sent
		r.Acks = append(r.Acks, p.Acks...)
		r.Ordered = append(r.Ordered, p.Ordered...)
		r.Unordered = append(r.Unordered, p.Unordered...)
	}
	return &r
}

// joinPlan returns the whole of a plan.
func joinPlan(pieces []*Plan) *Plan {
	p := &Plan{}
	for _, t := range pieces {
		p.Proposal = t.Proposal
		for i := range t.Groups {
			g := &t.Groups[i]
			to, _ := p.continueGroup(g)
			to.Lack, to.Fill = append(to.Lack, g.Lack...), append(to.Fill, g.Fill...)
		}
	}
	return p
}

// joinCommit returns the whole terms of a view.
func joinCommit(pieces []*Commit) *Commit {
	c := &Commit{}
	for _, t := range pieces {
		c.Proposal = t.Proposal
		for i := range t.Branches {
			b := &t.Branches[i]
			to, _ := c.continueBranch(b)
			to.Acks = append(to.Acks, b.Acks...)
		}
		c.Ordered, c.Unordered = append(c.Ordered, t.Ordered...), append(c.Unordered, t.Unordered...)
	}
	return c
}

// Terms returns the terms of the view that this node led to. If they are one piece that
// leaves room for the announcement of the view, Terms returns it as with: it travels in
// the announcement's packet. Otherwise Terms returns the pieces as before: they travel
// ahead of the announcement to the members of to, which are those that have not shown that they
// have installed the view, or in a large group the next of these.
func (s *Service) Terms(id membership.ViewID) (with *Commit, before []*Commit, to timed.Set) {
	if len(s.committed) == 0 || s.committed[0].Proposal != id {
		return nil, nil, to
	}
	weight := 0
	for _, c := range s.committed {
		weight += c.weight()
	}
	if len(s.committed) == 1 && weight+len(s.members)*announceWeight <= s.cfg.PacketBytes-announceFixed {
		return s.committed[0], nil, to
	}
	room := max(1, termBytes/weight)
	for range s.members {
		m := &s.members[s.served]
		if s.served = (s.served + 1) % len(s.members); m.Incarnation != s.cfg.Self && !m.here {
			to.Add(m.Node)
		}
		if to.Len() == room {
			break
		}
	}
	return nil, s.committed, to
}

// termBytes is how many bytes of terms travel ahead of one announcement.
const termBytes = 4 * flushBytes

// Usual size of the announcement of a view in a packet: the request and the line of group
// time, and an entry for each member.
const (
	announceFixed  = 150
	announceWeight = 32
)
