package stack

import (
	"time"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// relay is a node's place in the tree of a request. It collects the replies of one request
// at a time. Other candidates get their answers directly.
type relay struct {
	held      wire.Collated
	waiting   bool          // held waits for more replies
	requested bool          // the request itself has come, not only replies to it
	to        timed.NodeID  // the destination of held
	until     timed.Instant // the end of the wait
	expect    timed.Set     // nodes whose replies are expected
	passed    timed.Set     // nodes whose replies are in held or have been sent

	packets []relayPacket // packets of this turn
	used    int

	// The last state of this node that a direct packet to the requester carried.
	requester timed.NodeID
	lastState leader.State
}

// relayPacket is the replies of one packet to a node.
type relayPacket struct {
	to     timed.NodeID
	sent   bool
	packet wire.Collated
}

// newPacket returns an empty packet of this turn.
func (r *relay) newPacket(to timed.NodeID, by timed.Incarnation, number timed.Instant) *relayPacket {
	if r.used == len(r.packets) {
		r.packets = append(r.packets, relayPacket{})
	}
	p := &r.packets[r.used]
	r.used++
	p.to, p.sent = to, false
	p.packet.Leader, p.packet.Number, p.packet.Replies = by, number, p.packet.Replies[:0]
	return p
}

// send sends replies to a node, in as many packets as they need.
func (r *relay) send(to timed.NodeID, by timed.Incarnation, number timed.Instant, replies []wire.Relayed) {
	for len(replies) > 0 {
		n := wire.FitReplies(replies)
		p := r.newPacket(to, by, number)
		p.packet.Replies = append(p.packet.Replies, replies[:n]...)
		replies = replies[n:]
	}
}

// flush sends the collected replies.
func (r *relay) flush() {
	if r.waiting {
		r.send(r.to, r.held.Leader, r.held.Number, r.held.Replies)
		r.waiting, r.held.Replies = false, r.held.Replies[:0]
	}
}

// begin starts to collect for another request, and sends the replies to the one before.
func (r *relay) begin(by timed.Incarnation, number timed.Instant) {
	r.flush()
	r.held.Leader, r.held.Number, r.held.Replies = by, number, r.held.Replies[:0]
	r.waiting, r.requested = true, false
	r.expect, r.passed = timed.Set{}, timed.Set{}
}

// collects reports whether the relay collects for a request.
func (r *relay) collects(by timed.Incarnation, number timed.Instant) bool {
	return r.held.Leader == by && r.held.Number == number
}

// add collects a reply unless it was collected before.
func (r *relay) add(reply *wire.Relayed) {
	if id := reply.Voter.Node; !r.passed.Has(id) {
		r.passed.Add(id)
		r.held.Replies = append(r.held.Replies, *reply)
	}
}

// complete sends the replies once none is missing.
func (r *relay) complete() {
	if r.requested && r.expect.Subset(r.passed) {
		r.flush()
	}
}

// due returns when the replies must be sent.
func (r *relay) due() timed.Instant {
	if !r.waiting {
		return timed.Never
	}
	return r.until
}

// collate takes this node's place in the tree of a request that it answers, and reports
// whether its reply goes through the tree. A refusal goes directly, because the packet's
// other fields about the node matter then.
func (s *Stack) collate(now, received timed.Instant, from timed.Incarnation, p *wire.Packet, alive timed.Set) bool {
	if !p.Has(wire.FrameTree) || s.outbox.toOne&wire.FrameEpoch != 0 {
		return false // collated votes have no room for the state of the epoch
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
		return false // it answers only the requester, and waits for no replies
	}
	own := wire.Relayed{Voter: s.cfg.Self, Reply: s.outbox.reply}
	s.views.FillReport(&own.Report)
	r := &s.relay
	switch {
	case r.collects(from, p.Request.Number) && r.requested:
		return false // the request was repeated: the second answer goes directly
	case place.Below.Empty():
		if !own.Reply.Support {
			return false
		}
		r.send(to, from, p.Request.Number, []wire.Relayed{own})
	default:
		if !r.collects(from, p.Request.Number) {
			r.begin(from, p.Request.Number)
		}
		r.waiting, r.requested, r.to = true, true, to
		r.until = received.Add(s.share(place))
		r.expect = place.Below.Intersect(alive)
		if own.Reply.Support {
			r.add(&own)
		}
		r.complete()
	}
	if own.Reply.Support && to != from.Node {
		s.spareKeepalive(now, from.Node)
	}
	return own.Reply.Support
}

// share returns how long a node waits for the nodes below it. The requester counts replies
// that come within 2Δ. One Δ is for the way to the requester, and the levels share the
// other one. So the latest packet of a node finds the node above still waiting, and a
// crashed node costs only its own branch.
func (s *Stack) share(p leader.Place) time.Duration {
	return s.cfg.Timing.FastThreshold * time.Duration(p.Levels-p.Level) / time.Duration(p.Levels)
}

// spareKeepalive notes that the requester hears of this node through others and needs no
// keepalive, unless the state of this node has changed or there is a broadcast, because
// only direct packets carry these.
func (s *Stack) spareKeepalive(now timed.Instant, id timed.NodeID) {
	r := &s.relay
	if r.requester != id {
		r.requester, r.lastState = id, leader.State{}
	}
	var st leader.State
	s.election.FillState(now, &st)
	if s.broadcast == nil && r.lastState == st {
		s.datagrams.NoteSentIndirectly(now, id)
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
	case r.collects(c.Leader, c.Number):
		if !r.waiting {
			break
		}
		for i := range c.Replies {
			r.add(&c.Replies[i])
		}
		r.complete()
		return
	case !r.waiting || r.held.Leader == c.Leader && r.held.Number < c.Number:
		// The replies have overtaken the request. If it does not come they go to the
		// requester, because this node does not know its parent.
		r.begin(c.Leader, c.Number)
		r.to, r.until = c.Leader.Node, received.Add(s.cfg.Timing.FastThreshold/2)
		for i := range c.Replies {
			r.add(&c.Replies[i])
		}
		return
	}
	// The replies are late for this node's share, or belong to another request. The
	// nodes above may have moved on as well.
	r.send(c.Leader.Node, c.Leader, c.Number, c.Replies)
}

// handleRelayed takes the replies to this node's own request. The request left when the
// clock showed its number, so a node that answered it ran, and heard this node, no earlier.
func (s *Stack) handleRelayed(now, received timed.Instant, c *wire.Collated) {
	counted := false
	for i := range c.Replies {
		v := &c.Replies[i]
		since := v.Reply.Number
		if !s.accepts(v.Voter) {
			continue
		}
		s.noteVote(v.Voter, &v.Reply, nil)
		s.electionOut = s.election.HandleRelayed(received, v.Voter, v.Reply, s.electionOut[:0])
		if len(s.electionOut) == 0 { // the reply does not count
			s.views.NoteSequence(v.Report.Sequence)
			continue
		}
		counted = true
		if v.Reply.Support { // a node that refuses may not be ready, and must not be counted on
			s.heardIndirectly(since, v.Voter)
		}
		s.viewsOut = s.views.HandleReport(now, v.Voter, &v.Report, v.Reply.Support, s, s.viewsOut[:0])
		s.performViews()
	}
	if counted {
		s.electionOut = s.election.Decide(now, s.electionOut[:0])
		s.performElection(now, s.electionOut)
	}
}

// accepts reports whether an incarnation is the accepted one of its id.
func (s *Stack) accepts(i timed.Incarnation) bool {
	boot := s.datagrams.Boot(i.Node)
	return boot != 0 && boot == i.Boot
}

// piggyback adds replies for a packet's destination to the packet.
func (s *Stack) piggyback(p *wire.Packet) {
	r := &s.relay
	for i := range r.packets[:r.used] {
		if c := &r.packets[i]; c.to == p.Header.Destination && !c.sent {
			c.sent = true
			p.Frames, p.Collated = p.Frames|wire.FrameCollated, &c.packet
			return
		}
	}
}

// sendRelayPackets sends the replies that are in no other packet.
func (s *Stack) sendRelayPackets(now timed.Instant) {
	r := &s.relay
	for i := range r.packets[:r.used] {
		c := &r.packets[i]
		if c.sent || !s.datagrams.Peers().Has(c.to) {
			continue
		}
		p := s.address(now, c.to)
		s.datagrams.FillEcho(now, &p.Header)
		p.Frames, p.Collated = wire.FrameCollated, &c.packet
		s.out = append(s.out, Effect{Kind: Send, Peer: c.to, Packet: p})
	}
}
