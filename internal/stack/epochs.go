package stack

import (
	"errors"
	"time"

	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/timed"
)

// idleReports is how often a node says which epoch it is in while no change is
// under way: for those that were away, and those that are to join.
const idleReports = time.Second

// retryRounds is how many election periods a leader waits for a quorum to note its
// proposal before it proposes again, under the votes that it then has.
const retryRounds = 4

// ErrStatic: the quorum system of this node cannot be replaced.
var ErrStatic = errors.New("the quorum system of this node cannot be replaced: it needs a quorum system and a state directory")

// epochs is what a stack has whose quorum system may be replaced; else it is zero.
type epochs struct {
	machine *epoch.Machine
	state   *epoch.State // of the machine; a new one when it has changed
	out     []epoch.Effect
}

// CheckEpoch returns an error if no incarnation can start with a state that was
// written down.
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
		panic(err) // the caller has checked it
	}
	e := epochs{machine: m}
	e.look()
	return e
}

// look notes the machine's state if it has changed. Packets and readers keep what
// they got.
func (e *epochs) look() {
	s := e.machine.State()
	if p := e.state; p != nil && p.Epoch == s.Epoch && p.System == s.System && p.Phase == s.Phase && p.Next == s.Next &&
		p.Agreed == s.Agreed && p.Dead == s.Dead && p.Edict.Equal(&s.Edict) {
		return
	}
	e.state = &s
}

func (e *epochs) due() timed.Instant {
	if e.machine == nil {
		return timed.Never
	}
	return e.machine.Deadline()
}

// quorate reports whether there are votes that count in a quorum.
func (s *Stack) quorate() bool { return s.cfg.Quorum != nil || s.ep.machine != nil }

// Epoch returns what the node knows of its epoch, which is never changed; nil
// where the quorum system is not replaced.
func (s *Stack) Epoch() *epoch.State { return s.ep.state }

// Propose asks the node, which leads globally, to have its quorum system replaced.
// The error is [ErrStatic], or that of [epoch.Machine.Propose].
func (s *Stack) Propose(next string) error {
	if s.ep.machine == nil {
		return ErrStatic
	}
	if err := s.ep.machine.Propose(next); err != nil {
		return err
	}
	s.el.RequestSoon()
	return nil
}

// Force replaces the quorum system without a leader. The error is [ErrStatic], or
// that of [epoch.Machine.Force], which says what everything then rests on.
func (s *Stack) Force(now timed.Instant, next string, dead timed.Set, out []Effect) ([]Effect, error) {
	if s.ep.machine == nil {
		return out, ErrStatic
	}
	s.begin(now, out)
	changed, err := s.ep.machine.Force(now, next, dead, s.ep.out[:0])
	s.performEpochs(now, changed)
	return s.end(now), err
}

// performEpochs does what the epochs want. What is to be said is said at the end
// of the turn, when all that it tells of has been written.
func (s *Stack) performEpochs(now timed.Instant, effects []epoch.Effect) {
	s.ep.out = effects[:0]
	s.ep.look()
	for i := range effects {
		e := &effects[i]
		switch e.Kind {
		case epoch.Persist:
			state := e.State
			s.out = append(s.out, Effect{Kind: Persist, Epoch: &state})
		case epoch.SendStateToAll:
			s.box.told = s.dg.Peers()
		case epoch.SendState:
			s.box.to, s.box.uni, s.box.epoch = e.Peer, s.box.uni|wire.FrameEpoch, s.ep.state
		case epoch.Notify:
			if e.Event.Kind == epoch.Entered {
				s.perform(now, s.el.HandleEpoch(now, nil))
			}
			s.notify(Event{Kind: EventEpoch, Peer: e.Event.Peer, Change: e.Event})
		}
	}
}

// tellEpoch says what this node knows to those who are to hear it, in packets of their own: with all
// else that a turn may have to say they might be too large, and then that would be
// lost as well.
func (s *Stack) tellEpoch(now timed.Instant) {
	for id := s.box.told.Next(0); id != 0; id = s.box.told.Next(id) {
		p := s.address(id, now)
		s.dg.FillEcho(now, &p.Header)
		p.Frames, p.Epoch = wire.FrameEpoch, s.ep.state
		s.out = append(s.out, Effect{Kind: Send, To: id, Packet: p})
	}
}

// voteWithState lets what this node has noted go with its vote.
func (s *Stack) voteWithState() {
	if m := s.ep.machine; m != nil && m.Busy() {
		s.box.uni, s.box.epoch = s.box.uni|wire.FrameEpoch, s.ep.state
	}
}

// noteVote takes a vote for the round under way that counts in a quorum, with what
// the voter had noted; p is the packet unless others have passed the vote on.
func (s *Stack) noteVote(from timed.Incarnation, r *leader.Reply, p *wire.Packet) {
	if s.ep.machine == nil || !r.Support || r.Stamp == (leader.VoteStamp{}) || r.Number != s.el.LastRequest() {
		return
	}
	var state *epoch.State
	if p != nil && p.Has(wire.FrameEpoch) {
		state = p.Epoch
	}
	s.ep.machine.NoteReply(from, r.Number, state)
}

// wonEpoch tells of a round that a quorum has voted in.
func (s *Stack) wonEpoch(now timed.Instant, e *leader.Effect) {
	if s.ep.machine == nil || e.Stamps == nil || e.Stamps.Epoch != s.ep.state.Epoch {
		return
	}
	s.performEpochs(now, s.ep.machine.HandleWon(now, e.Number, e.Stamps.Stamps, s.ep.out[:0]))
}
