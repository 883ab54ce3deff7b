package stack

import (
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// Config is what one node needs to know.
type Config struct {
	Self          timed.Incarnation
	Group         uint64 // digest of the group's name
	Timing        timed.Timing
	Mode          leader.Mode
	RankBy        leader.RankBy
	Weight        uint16
	Collation     leader.Collation
	MaxDeviation  time.Duration
	MaxSlew       int64
	StepThreshold time.Duration
	MaxUTCError   time.Duration
	MinReferences int
	// Broadcast, if not nil, configures the atomic broadcast; its Self and
	// Timing are those above. It must be valid, and in all nodes or none.
	Broadcast *broadcast.Config
	// Quorum, Epoch and Starts are those of [leader.Config].
	Quorum quorum.System
	Epoch  uint64
	Starts uint64
	// Epochs, if not nil, is what was written down last of the epochs of the group:
	// the quorum system is then that of the state, and may be replaced. It must be
	// one that [CheckEpoch] accepts, and Starts above 0; Quorum and Epoch are not
	// looked at.
	Epochs *epoch.State
}

// Stack is the state of one incarnation of a node. It is a pure machine for one
// goroutine.
type Stack struct {
	cfg Config
	dg  *datagram.Service
	el  *leader.Election
	mb  *membership.Service
	ck  *clocksync.Sync
	br  *broadcast.Service // nil without broadcast
	ep  epochs

	lastTurn  timed.Instant
	ready     bool
	alive     timed.Set // at the end of the last turn
	following timed.Incarnation
	leading   bool
	global    bool // leads globally
	leaving   bool
	mismatch  timed.Set // peers whose settings differ, reported once
	blamed    bool
	answered  [timed.MaxNodes + 1]timed.Instant

	// The turn under way.
	out    []Effect
	box    outbox
	relay  relay
	more   morePackets       // written in this turn, unless the driver lends its own
	events []Event           // reported in this turn
	later  bool              // what the broadcast has to do waits for HandleTimeout
	acked  membership.ViewID // the proposal for which the broadcast keeps still
	due    timed.Instant     // the deadline after the last turn

	// Scratch space for the effects of the layers.
	dgOut []datagram.Effect
	elOut []leader.Effect
	mbOut []membership.Effect
	ckOut []clocksync.Effect
	brOut []broadcast.Effect

	// Lend, if set, gives the packets to write, in the order of the effects that
	// send them. A driver that keeps packets is spared a copy.
	Lend func() *wire.Packet

	// Dropped counts what was of no use.
	Dropped Dropped

	lastPacket datagram.Effect
}

// Dropped counts packets that were of no use, by reason.
type Dropped struct {
	Foreign, Mismatch, Unknown, Unaccepted, Faulty uint64
}

// New returns the node of an incarnation that starts at now, when the wall
// clock shows wall, with the given peers.
func New(cfg Config, peers timed.Set, now timed.Instant, wall clocksync.Time) *Stack {
	ep := newEpochs(&cfg, now)
	s := &Stack{
		cfg: cfg,
		ep:  ep,
		dg:  datagram.New(datagram.Config{Self: cfg.Self, Timing: cfg.Timing}, now),
		el: leader.New(leader.Config{Self: cfg.Self, Timing: cfg.Timing, Mode: cfg.Mode,
			RankBy: cfg.RankBy, Weight: cfg.Weight, Quorum: cfg.Quorum, Epoch: cfg.Epoch, Starts: cfg.Starts,
			Collation: cfg.Collation, Epochs: ep.machine}, now),
		mb: membership.New(membership.Config{Self: cfg.Self, Timing: cfg.Timing}),
		ck: clocksync.New(clocksync.Config{Self: cfg.Self, Timing: cfg.Timing, MaxDeviation: cfg.MaxDeviation,
			MaxSlew: cfg.MaxSlew, StepThreshold: cfg.StepThreshold,
			MaxUTCError: cfg.MaxUTCError, MinReferences: cfg.MinReferences}, now, wall),
		lastTurn: now,
		due:      now,
	}
	if cfg.Broadcast != nil {
		c := *cfg.Broadcast
		c.Self, c.Timing = cfg.Self, cfg.Timing
		s.br = broadcast.New(c)
	}
	for id := peers.Next(0); id != 0; id = peers.Next(id) {
		s.dg.AddPeer(now, id)
	}
	return s
}

// Self returns the incarnation.
func (s *Stack) Self() timed.Incarnation { return s.cfg.Self }

// AddPeer makes a peer known.
func (s *Stack) AddPeer(now timed.Instant, id timed.NodeID) { s.dg.AddPeer(now, id) }

// RemovePeer forgets a peer.
func (s *Stack) RemovePeer(id timed.NodeID) {
	s.dg.RemovePeer(id)
	s.el.Forget(id)
}

// Deadline returns when HandleTimeout is next due. Calling it early does
// nothing.
func (s *Stack) Deadline() timed.Instant {
	return s.due
}

// begin starts a turn.
func (s *Stack) begin(now timed.Instant, out []Effect) {
	s.out = out
	s.more.used, s.relay.used, s.events = 0, 0, s.events[:0]
	if s.br != nil {
		s.br.Reclaim()
		s.brOut, s.later = s.brOut[:0], false
	}
	s.box.all, s.box.uni, s.box.to, s.box.beat, s.box.told = 0, 0, 0, timed.Set{}, timed.Set{}
	if now.Sub(s.lastTurn) > s.cfg.Timing.Expires {
		s.el.NoteStall(now) // silence proves nothing about the peers
	}
	s.lastTurn = timed.Later(s.lastTurn, now)
}

// end finishes a turn: what has become due is done, and what is to be said
// leaves.
func (s *Stack) end(now timed.Instant) []Effect {
	if !s.ready && s.el.Ready(now) {
		s.ready = true
		s.dg.SetReady()
		s.box.beat = s.dg.Peers() // tell everybody at once that they are heard
		s.notify(Event{Kind: EventReady, Boot: s.cfg.Self.Boot})
	}
	alive := s.dg.Alive(now)
	s.el.SetAlive(alive)
	if s.mb.Deadline() <= now {
		s.mbOut = s.mb.HandleTimeout(now, s, s.mbOut[:0])
		s.performViews()
	}
	if s.br != nil && !s.later {
		s.actBroadcast(now)
	}
	if s.ep.due() <= now {
		s.performEpochs(now, s.ep.machine.HandleTimeout(now, s.ep.out[:0]))
	}
	// A round that is won may want the next one at once, to say something
	// about views; more than that waits for the next turn.
	due := s.el.Deadline()
	for range 2 {
		if due > now {
			break
		}
		s.elOut = s.el.HandleTimeout(now, s.elOut[:0])
		s.perform(now, s.elOut)
		due = s.el.Deadline()
	}
	if s.relay.due() <= now {
		s.relay.flush()
	}
	s.observe(now, alive)
	s.flush(now)
	s.tellEpoch(now)
	due = timed.Earlier(due, s.ep.due())
	due = timed.Earlier(due, s.mb.Deadline())
	due = timed.Earlier(due, s.relay.due())
	due = timed.Earlier(due, s.dg.Deadline())
	if !s.ready {
		due = timed.Earlier(due, s.el.ReadyAt())
	}
	if s.br != nil {
		due = s.dueBroadcast(now, due)
	}
	s.due = due
	out := s.out
	s.out = nil
	return out
}

// HandleTimeout does what has become due.
func (s *Stack) HandleTimeout(now timed.Instant, out []Effect) []Effect {
	s.begin(now, out)
	s.dgOut = s.dg.HandleTimeout(now, s.dgOut[:0])
	for i := range s.dgOut {
		e := &s.dgOut[i]
		s.notify(Event{Kind: EventDuplicateID, Peer: e.From.Node, Boot: e.From.Boot})
	}
	return s.end(now)
}

// HandlePacket takes a packet received when the local clock showed received; now
// is the reading of this turn.
func (s *Stack) HandlePacket(now, received timed.Instant, p *wire.Packet, out []Effect) []Effect {
	s.begin(now, out)
	h := &p.Header
	s.lastPacket = datagram.Effect{Kind: datagram.Dropped}
	if h.Group != s.cfg.Group || h.Destination != s.cfg.Self.Node {
		s.Dropped.Foreign++
		return s.end(now)
	}
	if p.MaxDrift != s.cfg.Timing.MaxDrift || p.FastThreshold != s.cfg.Timing.FastThreshold {
		s.Dropped.Mismatch++
		if !s.mismatch.Has(h.Source) {
			s.mismatch.Add(h.Source)
			s.notify(Event{Kind: EventMismatch, Peer: h.Source, MaxDrift: p.MaxDrift, FastThreshold: p.FastThreshold})
		}
		return s.end(now)
	}
	if p.Has(wire.FrameInUse) && h.Echo.Boot != s.cfg.Self.Boot {
		s.Dropped.Unknown++ // an answer to another incarnation of this id: it says nothing about this one
		return s.end(now)
	}
	s.dgOut = s.dg.HandlePacket(received, h, s.dgOut[:0])
	s.lastPacket = s.dgOut[0]
	from, d := s.lastPacket.From, s.lastPacket.Delay
	switch s.lastPacket.Kind {
	case datagram.Dropped:
		s.Dropped.Unknown++
	case datagram.Challenged:
		s.Dropped.Unaccepted++
		s.refuse(now, p)
	case datagram.Faulty:
		s.Dropped.Faulty++
		s.suspectClocks(now, from, d)
	case datagram.Twin:
		s.Dropped.Faulty++
		s.notify(Event{Kind: EventTwins, Peer: from.Node, Boot: from.Boot})
	case datagram.Accepted:
		if s.el.Peer(from.Node) != (leader.State{}) {
			s.notify(Event{Kind: EventPeerRestarted, Peer: from.Node, Boot: from.Boot})
		}
		s.el.Forget(from.Node)
		s.mismatch.Remove(from.Node)
		s.handle(now, received, from, p, d)
	case datagram.Delivered:
		s.handle(now, received, from, p, d)
	}
	return s.end(now)
}

// handle takes a packet of a peer's accepted incarnation.
func (s *Stack) handle(now, received timed.Instant, from timed.Incarnation, p *wire.Packet, d datagram.Delay) {
	if p.Header.Echo.Boot == s.cfg.Self.Boot {
		if p.Has(wire.FrameInUse) {
			s.dg.NoteRefusal(received, from.Node, p.InUse, p.Header.Echo.Latest)
			return
		}
		s.dg.NoteAcceptance(now, from.Node)
	}
	if p.Header.Stamp >= s.dg.Newest(from.Node) { // else overtaken: a later packet has said more
		s.el.NoteState(from, &p.State)
	}
	alive := s.dg.Alive(now)
	s.el.SetAlive(alive)
	if p.Has(wire.FrameLeaving) {
		s.notify(Event{Kind: EventPeerLeaving, Peer: from.Node, Boot: from.Boot})
	}
	if p.Has(wire.FrameRelease) {
		s.noteRelease(now, from, p)
	}
	if p.Has(wire.FrameResign) {
		s.mbOut = s.mb.HandleResign(now, from, p.Resign, s.mbOut[:0])
		s.performViews()
	}
	if p.Has(wire.FrameDropped) {
		s.mbOut = s.mb.HandleDropped(now, from, p.Dropped, s.mbOut[:0])
		s.performViews()
	}
	if s.br != nil && p.Has(wire.FrameBroadcast) {
		s.handleBroadcast(now, from, p)
	}
	if p.Has(wire.FrameQuorum | wire.FrameRequest) {
		s.handleQuorum(now, from, p)
	}
	if p.Has(wire.FrameEpoch) && s.ep.machine != nil {
		s.performEpochs(now, s.ep.machine.HandleReport(now, from, p.Epoch, s.ep.out[:0]))
	}
	if p.Has(wire.FrameRequest) {
		s.handleRequest(now, received, from, p, d, alive)
	}
	if p.Has(wire.FrameReply) {
		s.handleReply(now, from, p, d)
	} else if p.Has(wire.FrameSamples) {
		s.handleSamples(now, from.Node, &p.Samples)
	}
	if p.Has(wire.FrameQuestion) {
		s.handleQuestion(now, from, p)
	}
	if p.Has(wire.FrameAnswer) {
		s.handleAnswer(now, from, p)
	}
	if p.Has(wire.FrameCollated) {
		s.handleCollated(now, received, p, d)
	}
}

func (s *Stack) handleRequest(now, received timed.Instant, from timed.Incarnation, p *wire.Packet, d datagram.Delay, alive timed.Set) {
	started := s.dg.SentBefore(received, from.Node, p.Header.Stamp)
	s.elOut = s.el.HandleRequest(now, from, p.Request, d.Fast, started, s.elOut[:0])
	// A vote binds this node before the view part counts. An abdication comes before
	// the vote.
	s.perform(now, s.elOut)
	if s.box.uni&wire.FrameReply == 0 {
		return
	}
	if s.box.reply.Support {
		if s.counts(&p.Part) {
			s.mbOut = s.mb.HandlePart(now, from, &p.Part, p.Header.Stamp, received, d.Bound, s.mbOut[:0])
			s.keepStill(now, p.Part.View)
			s.performViews()
		}
		if p.Has(wire.FrameLine) {
			if lo, hi, ok := s.dg.Offset(now, from.Node); ok {
				s.ckOut = s.ck.HandleLine(now, &p.Line, lo, hi, s.ckOut[:0])
				if p.Has(wire.FrameUTC) {
					s.ckOut = s.ck.HandleUTC(now, &p.UTC, lo, hi, s.ckOut)
				}
				s.performClock()
			}
		}
		s.forward(now, from)
	}
	if s.collate(now, received, from, p, alive) {
		// Only what the references say goes directly.
		s.box.uni &^= wire.FrameReply | wire.FrameStamp
		return
	}
	s.mb.FillReport(&s.box.report)
}

func (s *Stack) handleReply(now timed.Instant, from timed.Incarnation, p *wire.Packet, d datagram.Delay) {
	p.Reply.Stamp = leader.VoteStamp{}
	if p.Has(wire.FrameStamp) {
		p.Reply.Stamp = p.Stamp
	}
	s.noteVote(from, &p.Reply, p)
	s.elOut = s.el.HandleReply(now, from, p.Reply, d.Fast, s.elOut[:0])
	if len(s.elOut) == 0 { // the reply does not count
		s.mb.NoteSequence(p.Report.Sequence)
		return
	}
	// The report first: the round that this reply wins may commit on it.
	s.mbOut = s.mb.HandleReport(now, from, &p.Report, p.Reply.Support, s, s.mbOut[:0])
	s.performViews()
	s.perform(now, s.elOut)
	if p.Has(wire.FrameSamples) {
		s.handleSamples(now, from.Node, &p.Samples)
	}
}

// performViews does what the membership service wants.
func (s *Stack) performViews() {
	if s.br != nil {
		s.keepStill(s.lastTurn, s.mb.Proposal())
	}
	for i := range s.mbOut {
		e := &s.mbOut[i]
		switch e.Kind {
		case membership.RequestRound:
			s.el.RequestSoon()
		case membership.SendPart:
			s.box.part = e.Part
			if e.Part.Until > 0 {
				s.el.NoteGrant(e.Part.Until)
			}
		case membership.SendResign:
			s.box.resign, s.box.all = e.ID, s.box.all|wire.FrameResign
		case membership.SendDropped:
			s.box.to, s.box.dropped, s.box.uni = e.Peer, e.ID, s.box.uni|wire.FrameDropped
		case membership.AllDropped:
			s.el.NoteGrantsDropped()
		case membership.Installed:
			if len(e.View.Members) > 1 {
				s.ck.NoteShared()
			}
			if s.br != nil {
				s.castInstalled(e.View)
			}
			s.notify(Event{Kind: EventViewInstalled, View: e.View, Previous: e.Previous})
		case membership.Fresh:
			s.notify(Event{Kind: EventViewFresh, View: e.View})
		case membership.Stale:
			s.notify(Event{Kind: EventViewStale, View: e.View, Stale: e.Reason, Peer: e.Peer})
		}
	}
	s.mbOut = s.mbOut[:0]
}

// LeaseOf implements membership.Votes.
func (s *Stack) LeaseOf(i timed.Incarnation) (timed.Instant, bool) {
	v, ok := s.el.Vote(i.Node)
	if !ok || v.Boot != i.Boot {
		return 0, false
	}
	return v.Number.Add(s.cfg.Timing.MaxDrift.Trust(v.LockTime)), true
}

// notify reports an event. Effects point into events: when it grows, those of
// before keep pointing to where it was, which stays as it is.
func (s *Stack) notify(e Event) {
	s.events = append(s.events, e)
	s.out = append(s.out, Effect{Kind: Notify, Event: &s.events[len(s.events)-1]})
}
