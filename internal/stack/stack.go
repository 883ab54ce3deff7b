package stack

import (
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// Stack is the state of one incarnation of a node. It is a pure machine for one
// goroutine.
type Stack struct {
	cfg       Config
	datagrams *datagram.Service
	election  *leader.Election
	versions  versions
	views     *membership.Service
	clock     *clocksync.Sync
	broadcast *broadcast.Service // nil without broadcast
	order     Order
	epochal   timed.Set // peers whose packets name cfg.Group, not cfg.Former
	epochs    epochs

	lastTurn  timed.Instant
	ready     bool
	alive     timed.Set // at the end of the last turn
	following timed.Incarnation
	leading   bool
	global    bool // leads globally
	leaving   bool
	forGood   bool
	suspect   bool // this node suspects its own clock
	// inconsistent: an invariant is broken, and the incarnation must end.
	inconsistent bool
	refusedAt    [timed.MaxNodes + 1]timed.Instant

	// The present turn.
	out            []Effect
	outbox         outbox
	relay          relay
	rest           rest
	packets        packetPool        // packets of this turn, unless NewPacket is set
	events         []Event           // events of this turn
	deferBroadcast bool              // the broadcast waits for HandleTimeout
	acknowledged   membership.ViewID // the proposal for which the broadcast is frozen
	due            timed.Instant     // the deadline after the last turn

	// Effects of the layers, kept for their memory.
	datagramOut  []datagram.Effect
	electionOut  []leader.Effect
	viewsOut     []membership.Effect
	clockOut     []clocksync.Effect
	broadcastOut []broadcast.Effect

	// NewPacket, if set, returns the packets to be filled, in the order of the
	// effects that send them. A driver that keeps packets saves copying them.
	NewPacket func() *wire.Packet

	// Dropped counts dropped packets.
	Dropped Dropped

	lastPacket []datagram.Effect // of the last packet; empty if it was dropped before
}

// Dropped counts dropped packets by reason.
type Dropped struct {
	Foreign, Mismatch, Impossible, Unknown, Unaccepted, Faulty uint64
}

// New returns the node of an incarnation that starts at now, when the wall clock shows
// wall, with the given peers.
func New(cfg Config, peers timed.Set, now timed.Instant, wall clocksync.Time) *Stack {
	e := newEpochs(&cfg, now)
	s := &Stack{
		cfg:       cfg,
		epochs:    e,
		datagrams: datagram.New(datagram.Config{Self: cfg.Self, Timing: cfg.Timing}, now),
		election: leader.New(leader.Config{Self: cfg.Self, Timing: cfg.Timing, Mode: cfg.Mode,
			RankBy: cfg.RankBy, Weight: cfg.Weight, Quorum: cfg.Quorum, Epoch: cfg.Epoch, Starts: cfg.Starts, Tentative: cfg.Tentative,
			Collation: cfg.Collation, Epochs: e.machine}, now),
		views: membership.New(membership.Config{Self: cfg.Self, Timing: cfg.Timing, Sequence: cfg.Sequence}),
		clock: clocksync.New(clocksync.Config{Self: cfg.Self, Timing: cfg.Timing, MaxDeviation: cfg.MaxDeviation,
			MaxSlew: cfg.MaxSlew, StepThreshold: cfg.StepThreshold,
			MaxUTCError: cfg.MaxUTCError, MinReferences: cfg.MinReferences}, now, wall),
		lastTurn: now,
		due:      now,
	}
	if s.versions.newest, s.versions.while = cfg.Newest, cfg.Timing.Expires; cfg.Newest == 0 {
		s.versions.newest = wire.Version
	}
	if cfg.Broadcast != nil {
		c := *cfg.Broadcast
		c.Self, c.Timing = cfg.Self, cfg.Timing
		s.order = cfg.Order()
		c.Quorum = s.order.System
		s.broadcast = broadcast.New(c)
		s.broadcast.RecallOrdered(cfg.Ordered)
	}
	for id := peers.Next(0); id != 0; id = peers.Next(id) {
		s.datagrams.AddPeer(now, id)
	}
	return s
}

// AddPeer makes a peer known. HandleTimeout greets it, and is due.
func (s *Stack) AddPeer(now timed.Instant, id timed.NodeID) {
	s.datagrams.AddPeer(now, id)
	s.renew(now)
}

// RemovePeer forgets a peer. HandleTimeout is due if the node was waiting for the peer.
func (s *Stack) RemovePeer(now timed.Instant, id timed.NodeID) {
	s.datagrams.RemovePeer(id)
	s.election.Forget(id)
	s.renew(now)
}

// Settle says that this node keeps its id, if the incarnation is tentative.
func (s *Stack) Settle(now timed.Instant) {
	s.election.Settle(now)
	s.renew(now)
}

// Sequence returns the largest sequence of a view that the node knows, for its next
// incarnation.
func (s *Stack) Sequence() uint64 { return s.views.Sequence() }

// Deadline returns when HandleTimeout is next due. Calling HandleTimeout early does
// nothing.
func (s *Stack) Deadline() timed.Instant { return s.due }

// HandleTimeout does the work that has become due.
func (s *Stack) HandleTimeout(now timed.Instant, out []Effect) []Effect {
	s.begin(now, out)
	s.datagramOut = s.datagrams.HandleTimeout(now, s.datagramOut[:0])
	for i := range s.datagramOut {
		e := &s.datagramOut[i]
		s.notify(Event{Kind: EventDuplicateID, Peer: e.From.Node, Boot: e.From.Boot})
	}
	return s.end(now)
}

// begin starts a turn.
func (s *Stack) begin(now timed.Instant, out []Effect) {
	s.out = out
	s.packets.used, s.relay.used, s.events = 0, 0, s.events[:0]
	if s.broadcast != nil {
		s.broadcast.Reclaim()
		s.broadcastOut, s.deferBroadcast = s.broadcastOut[:0], false
	}
	s.outbox.begin()
	s.rest.asker = timed.NoNode
	if now.Sub(s.lastTurn) > s.cfg.Timing.Expires {
		s.election.NoteStall(now) // silence proves nothing about the peers
	}
	s.noteLateness(now, timed.Later(s.due, s.lastTurn))
	s.lastTurn = timed.Later(s.lastTurn, now)
}

// end finishes a turn: it does the due work and sends the packets.
func (s *Stack) end(now timed.Instant) []Effect {
	if !s.ready && s.election.Ready(now) {
		s.ready = true
		s.datagrams.SetReady()
		s.outbox.keepalives = s.datagrams.Peers() // so that all peers learn at once that they are heard
		s.notify(Event{Kind: EventReady, Boot: s.cfg.Self.Boot})
	}
	alive := s.datagrams.Alive(now)
	s.election.SetAlive(now, alive)
	if s.views.Deadline() <= now {
		s.viewsOut = s.views.HandleTimeout(now, s, s.viewsOut[:0])
		s.performViews()
	}
	if s.broadcast != nil && !s.deferBroadcast {
		s.timeoutBroadcast(now)
	}
	if s.epochs.due() <= now {
		s.performEpochs(now, s.epochs.machine.HandleTimeout(now, s.epochs.out[:0]))
	}
	// A round that is won may want the next one at once, because views have news. A
	// third round waits for the next turn.
	due := s.election.Deadline()
	for range 2 {
		if due > now {
			break
		}
		s.electionOut = s.election.HandleTimeout(now, s.electionOut[:0])
		s.performElection(now, s.electionOut)
		due = s.election.Deadline()
	}
	if s.relay.due() <= now {
		s.relay.flush()
	}
	s.observe(now, alive)
	s.audit(now)
	s.flush(now, true)
	s.sendEpoch(now)
	s.due = s.dueAfter(now, due)
	return s.result()
}

// result returns the effects of a turn.
func (s *Stack) result() []Effect {
	out := s.out
	s.out = nil
	if s.inconsistent {
		return withhold(out)
	}
	return out
}

// renew advances the deadline when something between two turns has given a layer work. It
// never puts the deadline off: a turn looks at all layers, and only then is none of them due.
func (s *Stack) renew(now timed.Instant) {
	s.due = timed.Earlier(s.due, s.dueAfter(now, s.election.Deadline()))
}

// Oversleeps reports whether a layer has work before the deadline of the stack, which
// must never be. It is for tests and simulators.
func (s *Stack) Oversleeps(now timed.Instant) bool {
	return timed.Later(s.lastTurn, s.dueAfter(now, s.election.Deadline())) < s.due
}

// dueAfter returns the deadline of all layers, given that of the election.
func (s *Stack) dueAfter(now, due timed.Instant) timed.Instant {
	due = timed.Earlier(due, s.epochs.due())
	due = timed.Earlier(due, s.views.Deadline())
	due = timed.Earlier(due, s.relay.due())
	due = timed.Earlier(due, s.gatherAt(now))
	due = timed.Earlier(due, s.datagrams.Deadline())
	if !s.ready {
		due = timed.Earlier(due, s.election.ReadyAt())
	}
	if s.broadcast == nil {
		return due
	}
	if s.broadcast.Pending() {
		return timed.Earlier(due, now)
	}
	return timed.Earlier(due, s.broadcast.Deadline())
}

// notify reports an event. Effects point into events: when the slice grows, earlier
// effects keep pointing to the old memory, which does not change.
func (s *Stack) notify(e Event) {
	s.events = append(s.events, e)
	s.out = append(s.out, Effect{Kind: Notify, Event: &s.events[len(s.events)-1]})
}

// packetPool holds the packets of a turn. Effects point to them, so they do not move, and
// the next turn reuses them.
type packetPool struct {
	packets []*wire.Packet
	used    int
}

func (m *packetPool) take() *wire.Packet {
	if m.used == len(m.packets) {
		m.packets = append(m.packets, new(wire.Packet))
	}
	m.used++
	return m.packets[m.used-1]
}
