package stack

import (
	"errors"
	"time"

	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

// idleReports is the time between reports of the epoch while no change is under way. They
// are for nodes that were away and for nodes that join.
const idleReports = time.Second

// retryRounds is how many election periods a leader waits for a quorum to note its
// proposal. Then it proposes again, under the votes that it has by then.
const retryRounds = 4

// ErrStatic: the quorum system of this node cannot be replaced.
var ErrStatic = errors.New("the quorum system of this node cannot be replaced: it needs a quorum system and a state directory")

// epochs is the state of the epoch, in a stack whose quorum system may be replaced. In
// others it is zero.
type epochs struct {
	machine *epoch.Machine
	state   *epoch.State // the machine's; replaced when it changes
	out     []epoch.Effect
}

// CheckEpoch returns an error if no incarnation can start with a state.
func CheckEpoch(s *epoch.State) error {
	_, err := epoch.New(epoch.Config{Self: timed.Incarnation{Node: 1, Boot: 1}, Counter: 1, Parse: leader.ParseSystem,
		Period: 1, IdlePeriod: 1, Retry: 1}, *s, 0)
	return err
}

func newEpochs(cfg *Config, now timed.Instant) epochs {
	if cfg.Epochs == nil {
		return epochs{}
	}
	t := &cfg.Timing
	m, err := epoch.New(epoch.Config{Self: cfg.Self, Counter: cfg.Starts, ReadyAt: now.Add(t.ReadyTime()), Parse: leader.ParseSystem,
		Period: t.KeepalivePeriod, IdlePeriod: max(idleReports, t.KeepalivePeriod), Retry: retryRounds * t.ElectionPeriod}, *cfg.Epochs, now)
	if err != nil {
		panic(err) // the caller has checked the state with CheckEpoch
	}
	e := epochs{machine: m}
	e.update()
	return e
}

// Order says by which quorums an incarnation orders messages.
type Order struct {
	System quorum.System // nil: in all views
	Epoch  uint64        // that the system rules, with [Config.OrderByEpoch]
}

// Order returns the order of an incarnation with this configuration.
func (c *Config) Order() Order {
	switch {
	case c.Broadcast == nil:
		return Order{}
	case !c.OrderByEpoch:
		return Order{System: c.Broadcast.Quorum}
	}
	system, err := quorum.Parse(c.Epochs.System)
	if err != nil {
		system = nobody{} // CheckEpoch has accepted it: the node knows no epoch yet
	}
	return Order{system, c.Epochs.Epoch}
}

// nobody is the quorum system of a node that knows none yet: it has no quorums.
type nobody struct{}

func (nobody) Members() (none timed.Set) { return none }
func (nobody) IsQuorum(timed.Set) bool   { return false }
func (nobody) Digest() uint64            { return 1 }
func (nobody) String() string            { return "none" }

// Order returns the order of this incarnation.
func (s *Stack) Order() Order { return s.order }

// update copies the machine's state. Packets and readers keep the old copy.
func (e *epochs) update() {
	s := e.machine.State()
	e.state = &s
}

// due returns when the machine is next due.
func (e *epochs) due() timed.Instant {
	if e.machine == nil {
		return timed.Never
	}
	return e.machine.Deadline()
}

// quorate reports whether votes count in a quorum.
func (s *Stack) quorate() bool { return s.cfg.Quorum != nil || s.epochs.machine != nil }

// Epoch returns the node's knowledge of its epoch, or nil where the quorum system is not
// replaced. The result is immutable.
func (s *Stack) Epoch() *epoch.State { return s.epochs.state }

// Propose makes the node, which leads globally, propose another quorum system. The error
// is [ErrStatic] or that of [epoch.Machine.Propose].
func (s *Stack) Propose(now timed.Instant, next string) error {
	if s.epochs.machine == nil {
		return ErrStatic
	}
	if err := s.epochs.machine.Propose(next); err != nil {
		return err
	}
	s.election.RequestSoon()
	s.renew(now)
	return nil
}

// Force replaces the quorum system without a leader. [epoch.Machine.Force] says on which
// conditions that is safe. The error is [ErrStatic] or that of Machine.Force.
func (s *Stack) Force(now timed.Instant, next string, dead timed.Set, out []Effect) ([]Effect, error) {
	if s.epochs.machine == nil {
		return out, ErrStatic
	}
	s.begin(now, out)
	changed, err := s.epochs.machine.Force(now, next, dead, s.epochs.out[:0])
	s.performEpochs(now, changed)
	return s.end(now), err
}

// performEpochs performs the effects of the machine. States are sent at the end of the
// turn, after they have been written.
func (s *Stack) performEpochs(now timed.Instant, effects []epoch.Effect) {
	s.epochs.out = effects[:0]
	if len(effects) > 0 { // without, nothing has changed
		s.epochs.update()
	}
	for i := range effects {
		e := &effects[i]
		switch e.Kind {
		case epoch.Persist:
			state := e.State
			s.out = append(s.out, Effect{Kind: Persist, Epoch: &state})
		case epoch.SendStateToAll:
			s.outbox.epochTo = s.datagrams.Peers()
		case epoch.SendState:
			s.outbox.epochTo.Add(e.Peer)
		case epoch.Notify:
			if e.Event.Kind == epoch.Entered {
				s.performElection(now, s.election.HandleEpoch(now, nil))
				if s.cfg.OrderByEpoch {
					s.notify(Event{Kind: EventNewEpoch})
				}
			}
			s.notify(Event{Kind: EventEpoch, Peer: e.Event.Peer, Change: e.Event})
		}
	}
}

// sendEpoch sends the state of the epoch in packets of its own. In the other packets of a
// turn it might exceed their limit, and then everything else in them would be lost too.
func (s *Stack) sendEpoch(now timed.Instant) {
	for id := s.outbox.epochTo.Next(0); id != 0; id = s.outbox.epochTo.Next(id) {
		p := s.address(now, id)
		s.datagrams.FillEcho(now, &p.Header)
		p.Frames, p.Epoch = wire.FrameEpoch, s.epochs.state
		s.out = append(s.out, Effect{Kind: Send, Peer: id, Packet: p})
	}
}

// voteWithState sends the state of the epoch with a vote while a change is under way.
func (s *Stack) voteWithState() {
	if m := s.epochs.machine; m != nil && m.Busy() {
		s.outbox.toOne, s.outbox.epoch = s.outbox.toOne|wire.FrameEpoch, s.epochs.state
	}
}

// noteVote notes a vote for the present round that counts in a quorum, with the voter's
// state of the epoch. p is the packet, or nil if others have passed the vote on.
func (s *Stack) noteVote(from timed.Incarnation, r *leader.Reply, p *wire.Packet) {
	if s.epochs.machine == nil || !r.Support || r.Stamp == (leader.VoteStamp{}) || r.Number != s.election.LastRequest() {
		return
	}
	var state *epoch.State
	if p != nil && p.Has(wire.FrameEpoch) {
		state = p.Epoch
	}
	s.epochs.machine.NoteReply(from, r.Number, state)
}

// wonEpoch takes a round that this node has won by a quorum.
func (s *Stack) wonEpoch(now timed.Instant, e *leader.Effect) {
	if s.epochs.machine == nil || e.Stamps == nil || e.Stamps.Epoch != s.epochs.state.Epoch {
		return
	}
	if !s.election.LeadsGlobally(now) {
		return // the lease was over when the last vote came, and the machine has heard that it is lost
	}
	s.performEpochs(now, s.epochs.machine.HandleWon(now, e.Number, e.Stamps.Stamps, s.epochs.out[:0]))
}
