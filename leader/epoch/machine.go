package epoch

import (
	"errors"
	"fmt"
	"time"

	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/timed"
)

// Config configures a [Machine].
type Config struct {
	Self timed.Incarnation
	// Counter is the number of the incarnation, from the state directory.
	Counter uint64
	// ReadyAt is the end of the votes of earlier incarnations.
	ReadyAt timed.Instant
	// Parse reads the text of a quorum system.
	Parse func(string) (System, error)
	// Period is the time between reports while a change is under way, and
	// IdlePeriod the time between reports otherwise.
	Period, IdlePeriod time.Duration
	// Retry is how long a leader waits for a quorum to note its proposal before it
	// proposes again under its latest votes.
	Retry time.Duration
}

// Machine is the state machine of one node. It is not safe for concurrent use.
type Machine struct {
	cfg    Config
	state  State
	system System // nil in epoch 0

	// Votes of this node.
	votedFor timed.Incarnation
	since    timed.Instant // first of the votes for it, after the last vote for another
	bound    timed.Instant // end of all votes

	wedges              []wedges
	conflict, unordered bool // already reported

	// While this node leads.
	leading  bool
	wanted   string // the successor that it is asked to propose
	reports  []report
	own      bool      // the noted proposal was made under this lead
	noted    timed.Set // nodes that have noted it
	proposed timed.Instant

	nextReport timed.Instant

	audit audit
}

// report is the state of a voter when it voted in a round.
type report struct {
	from   timed.Incarnation
	number timed.Instant
	state  State
}

// New returns the machine of an incarnation that starts at now with the latest
// persisted state. The first members of a group begin with the quorum system of epoch
// 1. A joining node begins with the zero State and learns the epoch from others.
func New(cfg Config, state State, now timed.Instant) (*Machine, error) {
	switch {
	case !cfg.Self.Valid():
		return nil, errors.New("epoch: Self is not an incarnation")
	case cfg.Counter == 0:
		return nil, errors.New("epoch: Counter is 0: voters need a state directory to change their quorum system")
	case cfg.Parse == nil:
		return nil, errors.New("epoch: Parse is missing")
	case cfg.Period <= 0 || cfg.IdlePeriod <= 0 || cfg.Retry <= 0:
		return nil, errors.New("epoch: Period, IdlePeriod and Retry must be above 0")
	case state.Phase == Chosen:
		return nil, errors.New("epoch: a state in phase chosen is never persisted")
	}
	if err := state.check(); err != nil {
		return nil, err
	}
	m := &Machine{cfg: cfg, state: state, nextReport: now}
	for i, text := range []string{state.System, state.Next} {
		if text == "" {
			continue
		}
		system, err := m.parse(text)
		if err != nil {
			return nil, fmt.Errorf("epoch: %w", err)
		}
		if i == 0 {
			m.system = system
		}
	}
	if state.Phase == Wedged {
		m.wedge(cfg.Self.Node, &m.state)
	}
	return m, nil
}

// parse parses the canonical text of a quorum system.
func (m *Machine) parse(text string) (System, error) {
	if len(text) > MaxSystem {
		return nil, fmt.Errorf("the text of the quorum system is longer than %d bytes", MaxSystem)
	}
	s, err := m.cfg.Parse(text)
	if err == nil && s.String() != text {
		err = fmt.Errorf("%q is not in canonical form %q", text, s.String())
	}
	return s, err
}

// State returns the state that the node reports to others. The caller must not change
// it.
func (m *Machine) State() State { return m.state }

// System returns the quorum system that rules the node's epoch, or nil in epoch 0.
func (m *Machine) System() System { return m.system }

// Busy reports whether a change is under way. The votes of a busy node must carry its
// state.
func (m *Machine) Busy() bool { return m.state.Phase != Idle }

// Votes reports whether this node's vote for a candidate may carry a stamp and
// therefore count in a quorum. The epoch and the digest of the quorum system are those
// of the candidate's request. Both nodes must be members. Votes without a stamp make
// local leaders.
func (m *Machine) Votes(candidate timed.NodeID, epoch, digest uint64) bool {
	if m.system == nil || epoch != m.state.Epoch || digest != m.system.Digest() {
		return false
	}
	// The candidate must be a member, because a leader notes its own proposal.
	if members := m.system.Members(); !members.Has(m.cfg.Self.Node) || !members.Has(candidate) {
		return false
	}
	return m.state.Phase < Chosen
}

// NoteVote records that this node has cast a vote stamped at that binds it until the
// given instant. Votes for itself are recorded too.
func (m *Machine) NoteVote(to timed.Incarnation, at, until timed.Instant) {
	if to != m.votedFor {
		m.votedFor, m.since = to, at
	}
	m.bound = timed.Later(m.bound, until)
}

// NoteFreed records that a candidate has returned its stamped votes, so that they no
// longer bind.
func (m *Machine) NoteFreed(now timed.Instant, by timed.Incarnation) {
	if by == m.votedFor {
		m.bound = timed.Earlier(m.bound, now)
	}
}

// HandleEpoch answers a peer that asks for votes of another epoch. One of the two has missed
// the end of an epoch, and their quorum may have no leader until it hears of that. Reports
// for nodes that were away can be long in coming. If this node is behind, the peer
// answers in turn.
func (m *Machine) HandleEpoch(_ timed.Instant, from timed.NodeID, epoch uint64, out []Effect) []Effect {
	if epoch == m.state.Epoch {
		return out
	}
	return append(out, Effect{Kind: SendState, Peer: from, State: m.state})
}

// HandleReport processes the state of a peer's accepted incarnation.
func (m *Machine) HandleReport(now timed.Instant, from timed.Incarnation, s *State, out []Effect) []Effect {
	switch {
	case s.Epoch > m.state.Epoch:
		return m.enter(now, s.Epoch, s.System, out)
	case s.Epoch < m.state.Epoch:
		return append(out, Effect{Kind: SendState, Peer: from.Node, State: m.state})
	case s.System != m.state.System:
		return m.notifyConflict(from.Node, s.System, out)
	}
	switch s.Phase {
	case Noted:
		if m.own && edict.Compare(s.Edict, m.state.Edict) == edict.Same {
			return m.handleNoted(now, from.Node, out)
		}
		return m.note(now, from, s, out)
	case Wedged:
		m.wedge(from.Node, s)
		fallthrough
	case Chosen:
		out = m.learn(now, from.Node, s, out)
		return m.enterNext(now, out)
	}
	return out
}

// note notes a proposal if this node has voted for the proposer. The vote behind the
// edict must be later than all votes of this node for others. A proposal delayed past
// the lead of another node must not be noted, because that node learned from this one
// that there was no proposal.
func (m *Machine) note(now timed.Instant, from timed.Incarnation, s *State, out []Effect) []Effect {
	if m.state.Phase >= Chosen || from != m.votedFor {
		return out
	}
	stamp, ok := s.Edict.Stamp(m.cfg.Self.Node)
	if !ok || stamp.Boot != m.cfg.Self.Boot || stamp.At < m.since {
		return out
	}
	if m.state.Phase == Noted && edict.Compare(s.Edict, m.state.Edict) != edict.After {
		return out
	}
	if _, err := m.parse(s.Next); err != nil {
		return out
	}
	m.state.Phase, m.state.Next, m.state.Edict = Noted, s.Next, s.Edict
	return m.persist(now, out)
}

// persist writes the state to disk and then reports it.
func (m *Machine) persist(now timed.Instant, out []Effect) []Effect {
	return m.report(now, append(out, Effect{Kind: Persist, State: m.state}))
}

// report sends this node's state to all peers.
func (m *Machine) report(now timed.Instant, out []Effect) []Effect {
	d := m.cfg.IdlePeriod
	if m.Busy() {
		d = m.cfg.Period
	}
	m.nextReport = now.Add(d)
	return append(out, Effect{Kind: SendStateToAll, State: m.state})
}

// Deadline returns when HandleTimeout is next due.
func (m *Machine) Deadline() timed.Instant {
	if m.mayWedge() {
		return timed.Earlier(m.nextReport, m.unboundAt())
	}
	return m.nextReport
}

// HandleTimeout wedges or reports if that is due.
func (m *Machine) HandleTimeout(now timed.Instant, out []Effect) []Effect {
	if m.mayWedge() && now >= m.unboundAt() {
		out = m.wedgeSelf(now, out)
	}
	if now < m.nextReport {
		return out
	}
	if m.state.Phase == Wedged { // an earlier incarnation may have wedged as the only member
		epoch := m.state.Epoch
		if out = m.enterNext(now, out); m.state.Epoch != epoch {
			return out
		}
	}
	return m.report(now, out)
}

// notifyConflict reports a conflict once in an epoch.
func (m *Machine) notifyConflict(peer timed.NodeID, system string, out []Effect) []Effect {
	if m.conflict {
		return out
	}
	m.conflict = true
	return append(out, Effect{Kind: Notify, Event: Event{Conflict, m.state.Epoch, system, peer}})
}
