package stack

import (
	"time"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// relay is what a node does for others in the tree of a request. It holds the
// replies of one request at a time: whoever else asks for votes meanwhile is
// answered directly.
type relay struct {
	held   wire.Collated
	open   bool         // held waits for more, until the given instant at most
	known  bool         // the request has come, and not only replies to it
	to     timed.NodeID // where held goes
	until  timed.Instant
	expect timed.Set // whose replies are waited for
	passed timed.Set // whose replies to this request are held or have gone on

	outs []parcel // of this turn
	used int

	// What the requester was last told directly about this node.
	boss timed.NodeID
	said leader.State
}

// parcel is a packet's worth of replies on its way to a node.
type parcel struct {
	to     timed.NodeID
	sent   bool
	packet wire.Collated
}

// parcel returns an empty one of this turn.
func (r *relay) parcel(to timed.NodeID, by timed.Incarnation, number timed.Instant) *parcel {
	if r.used == len(r.outs) {
		r.outs = append(r.outs, parcel{})
	}
	p := &r.outs[r.used]
	r.used++
	p.to, p.sent = to, false
	p.packet.Leader, p.packet.Number, p.packet.Replies = by, number, p.packet.Replies[:0]
	return p
}

// send sends replies to a node, in as many packets as they need.
func (r *relay) send(to timed.NodeID, by timed.Incarnation, number timed.Instant, replies []wire.Relayed) {
	for len(replies) > 0 {
		n := wire.FitReplies(replies)
		p := r.parcel(to, by, number)
		p.packet.Replies = append(p.packet.Replies, replies[:n]...)
		replies = replies[n:]
	}
}

// flush sends what is held.
func (r *relay) flush() {
	if r.open {
		r.send(r.to, r.held.Leader, r.held.Number, r.held.Replies)
		r.open, r.held.Replies = false, r.held.Replies[:0]
	}
}

// begin turns to another request: what is held of the one before goes on.
func (r *relay) begin(by timed.Incarnation, number timed.Instant) {
	r.flush()
	r.held.Leader, r.held.Number, r.held.Replies = by, number, r.held.Replies[:0]
	r.open, r.known = true, false
	r.expect, r.passed = timed.Set{}, timed.Set{}
}

// holds reports whether a request is the one at hand.
func (r *relay) holds(by timed.Incarnation, number timed.Instant) bool {
	return r.held.Leader == by && r.held.Number == number
}

// add holds a reply, unless it is held or has gone on.
func (r *relay) add(reply *wire.Relayed) {
	if id := reply.Voter.Node; !r.passed.Has(id) {
		r.passed.Add(id)
		r.held.Replies = append(r.held.Replies, *reply)
	}
}

// complete sends what is held once nobody is waited for.
func (r *relay) complete() {
	if r.known && r.expect.Subset(r.passed) {
		r.flush()
	}
}

// due returns when what is held must go on.
func (r *relay) due() timed.Instant {
	if !r.open {
		return timed.Never
	}
	return r.until
}

// collate takes this node's place in the tree of a request that it answers, and
// reports whether the tree takes its reply along. A refusal goes directly: it
// tells more than a vote does, by what the packet says about the node.
func (s *Stack) collate(now, received timed.Instant, from timed.Incarnation, p *wire.Packet, alive timed.Set) bool {
	if !p.Has(wire.FrameTree) || s.box.uni&wire.FrameEpoch != 0 {
		return false // what the voter has noted goes with its vote, and collated ones have no room for it
	}
	place, ok := p.Request.Tree.Place(s.cfg.Self.Node)
	if !ok {
		return false
	}
	to := place.Parent
	orphan := to != timed.NoNode && !alive.Has(to)
	if to == timed.NoNode || orphan {
		to = from.Node
	}
	if to == from.Node && place.Below.Empty() {
		return false // there is nobody but the requester to answer, and nothing to wait for
	}
	own := wire.Relayed{Voter: s.cfg.Self, Reply: s.box.reply}
	s.mb.FillReport(&own.Report)
	r := &s.relay
	switch {
	case r.holds(from, p.Request.Number) && r.known:
		return false // the request came again; once more the answer goes directly
	case place.Below.Empty():
		if !own.Reply.Support {
			return false
		}
		r.send(to, from, p.Request.Number, []wire.Relayed{own})
	default:
		if !r.holds(from, p.Request.Number) {
			r.begin(from, p.Request.Number)
		}
		r.open, r.known, r.to = true, true, to
		r.until = received.Add(s.share(place))
		r.expect = place.Below.Intersect(alive)
		if own.Reply.Support {
			r.add(&own)
		}
		r.complete()
	}
	if own.Reply.Support && to != from.Node {
		s.spare(from.Node, now)
	}
	return own.Reply.Support
}

// share returns for how long a node waits for those below it. The requester
// counts what comes within 2Δ; one Δ of it is for the way to the requester, and
// the other is divided among the levels, so that what a node sends at its latest
// finds the node above still waiting, and one that crashed costs no more than
// its own branch.
func (s *Stack) share(p leader.Place) time.Duration {
	return s.cfg.Timing.FastThreshold * time.Duration(p.Levels-p.Level) / time.Duration(p.Levels)
}

// spare notes that the requester hears of this node by way of others, and needs
// no keepalive of its own; unless this node has something new to say about
// itself, or about broadcast, which packets to the requester carry.
func (s *Stack) spare(id timed.NodeID, now timed.Instant) {
	r := &s.relay
	if r.boss != id {
		r.boss, r.said = id, leader.State{}
	}
	var st leader.State
	s.el.FillState(now, &st)
	if s.br == nil && r.said == st {
		s.dg.NoteSentIndirectly(now, id)
	}
}

// handleCollated takes replies that a node of the tree passes on.
func (s *Stack) handleCollated(now, received timed.Instant, p *wire.Packet, d datagram.Delay) {
	if !d.Fast {
		return
	}
	c := p.Collated
	if c.Leader.Node == s.cfg.Self.Node {
		if c.Leader == s.cfg.Self {
			s.handleRelayed(now, received, c)
		}
		return
	}
	r := &s.relay
	switch {
	case r.holds(c.Leader, c.Number):
		if !r.open {
			break
		}
		for i := range c.Replies {
			r.add(&c.Replies[i])
		}
		r.complete()
		return
	case !r.open || r.held.Leader == c.Leader && r.held.Number < c.Number:
		// The replies have overtaken the request. Should it not come, they go
		// to the requester: this node does not know who is above it.
		r.begin(c.Leader, c.Number)
		r.to, r.until = c.Leader.Node, received.Add(s.cfg.Timing.FastThreshold/2)
		for i := range c.Replies {
			r.add(&c.Replies[i])
		}
		return
	}
	// Too late for this node's share, or for another request than the one at
	// hand: whatever is above may have gone on as well.
	r.send(c.Leader.Node, c.Leader, c.Number, c.Replies)
}

// handleRelayed takes the replies to this node's own request. The request left
// when the clock showed its number, so whoever answered it ran, and heard this
// node, no earlier.
func (s *Stack) handleRelayed(now, received timed.Instant, c *wire.Collated) {
	counted := false
	for i := range c.Replies {
		v := &c.Replies[i]
		since := v.Reply.Number
		if !s.accepts(v.Voter) {
			continue
		}
		s.noteVote(v.Voter, &v.Reply, nil)
		s.elOut = s.el.HandleRelayed(received, v.Voter, v.Reply, s.elOut[:0])
		if len(s.elOut) == 0 { // the reply does not count
			s.mb.NoteSequence(v.Report.Sequence)
			continue
		}
		counted = true
		if v.Reply.Support { // who refuses may not be ready, and is counted on by nobody
			s.dg.NoteHeardIndirectly(since, v.Voter)
		}
		s.mbOut = s.mb.HandleReport(now, v.Voter, &v.Report, v.Reply.Support, s, s.mbOut[:0])
		s.performViews()
	}
	if counted {
		s.elOut = s.el.Decide(now, s.elOut[:0])
		s.perform(now, s.elOut)
	}
}

// accepts reports whether an incarnation is the accepted one of its id.
func (s *Stack) accepts(i timed.Incarnation) bool {
	boot := s.dg.Boot(i.Node)
	return boot != 0 && boot == i.Boot
}

// takeAlong puts replies that are on their way to a packet's destination into the
// packet.
func (s *Stack) takeAlong(p *wire.Packet) {
	r := &s.relay
	for i := range r.outs[:r.used] {
		if c := &r.outs[i]; c.to == p.Header.Destination && !c.sent {
			c.sent = true
			p.Frames, p.Collated = p.Frames|wire.FrameCollated, &c.packet
			return
		}
	}
}

// sendParcels sends the replies that no other packet has taken along.
func (s *Stack) sendParcels(now timed.Instant) {
	r := &s.relay
	for i := range r.outs[:r.used] {
		c := &r.outs[i]
		if c.sent || !s.dg.Peers().Has(c.to) {
			continue
		}
		p := s.address(c.to, now)
		s.dg.FillEcho(now, &p.Header)
		p.Frames, p.Collated = wire.FrameCollated, &c.packet
		s.out = append(s.out, Effect{Kind: Send, To: c.to, Packet: p})
	}
}
