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
	// ReadyAt is when the votes of earlier incarnations no longer bind.
	ReadyAt timed.Instant
	// Parse reads the text of a quorum system.
	Parse func(string) (System, error)
	// Period is the time between reports while a change is under way, and
	// IdlePeriod the time between reports otherwise.
	Period, IdlePeriod time.Duration
	// Retry is how long a leader waits for a quorum to note its proposal. Then it
	// proposes again, under the votes that it has by then.
	Retry time.Duration
}

// Machine is one node's part in the epochs of its group. It is a pure machine for one
// goroutine.
type Machine struct {
	cfg    Config
	state  State
	system System // nil in epoch 0

	// The votes given.
	votedFor timed.Incarnation
	since    timed.Instant // first of the votes for it, after the last vote for another
	bound    timed.Instant // end of all votes

	wedges              []wedges
	conflict, unordered bool // already reported

	// While this node leads.
	leading  bool
	wanted   string // the successor that it is asked to propose
	reports  []report
	own      bool      // the noted proposal is this lead's
	noted    timed.Set // nodes that have noted it
	proposed timed.Instant

	nextReport timed.Instant
}

// report is what a voter had noted when it gave its vote in a round.
type report struct {
	from   timed.Incarnation
	number timed.Instant
	state  State
}

// New returns the machine of an incarnation that starts at now with the state that was
// written down last. A node that has none begins with the quorum system of epoch 1. A
// node that joins begins with the zero State and learns the epoch from others. The
// error names what is wrong with the settings or the state.
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
		return nil, errors.New("epoch: a state in phase chosen is never written down")
	}
	if err := state.check(); err != nil {
		return nil, err
	}
	m := &Machine{cfg: cfg, state: state, bound: cfg.ReadyAt, nextReport: now}
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

// parse reads the text of a quorum system, which must be its canonical text.
func (m *Machine) parse(text string) (System, error) {
	if len(text) > MaxSystem {
		return nil, fmt.Errorf("the text of the quorum system is longer than %d bytes", MaxSystem)
	}
	s, err := m.cfg.Parse(text)
	if err == nil && s.String() != text {
		err = fmt.Errorf("%q is written %q", text, s.String())
	}
	return s, err
}

// State returns what the node knows, for its reports. The caller must not change it.
func (m *Machine) State() State { return m.state }

// System returns the quorum system that rules the node's epoch, or nil in epoch 0.
func (m *Machine) System() System { return m.system }

// Busy reports whether a change is under way. The votes of a busy node must carry its
// state.
func (m *Machine) Busy() bool { return m.state.Phase != Idle }

// Votes reports whether this node's vote for a candidate may carry a stamp, and so
// count in a quorum. The candidate's request names the given epoch and quorum system,
// and both nodes must be members. Votes without a stamp make local leaders.
func (m *Machine) Votes(candidate timed.NodeID, epoch, digest uint64) bool {
	if m.system == nil || epoch != m.state.Epoch || digest != m.system.Digest() {
		return false
	}
	// A leader must be able to note what it proposes.
	if members := m.system.Members(); !members.Has(m.cfg.Self.Node) || !members.Has(candidate) {
		return false
	}
	return m.state.Phase < Chosen
}

// NoteVote notes that this node has given a stamped vote, stamped at, that binds it
// until the given instant. A node's vote for itself counts.
func (m *Machine) NoteVote(to timed.Incarnation, at, until timed.Instant) {
	if to != m.votedFor {
		m.votedFor, m.since = to, at
	}
	m.bound = timed.Later(m.bound, until)
}

// NoteFreed notes that a candidate has given its stamped votes back, so that they no
// longer bind.
func (m *Machine) NoteFreed(now timed.Instant, by timed.Incarnation) {
	if by == m.votedFor {
		m.bound = timed.Earlier(m.bound, now)
	}
}

// HandleReport takes the state of a peer's accepted incarnation.
func (m *Machine) HandleReport(now timed.Instant, from timed.Incarnation, s *State, out []Effect) []Effect {
	switch {
	case s.Epoch > m.state.Epoch:
		return m.enter(now, s.Epoch, s.System, out)
	case s.Epoch < m.state.Epoch:
		return append(out, Effect{Kind: SendState, Peer: from.Node, State: m.state})
	case s.Epoch == 0:
		return out
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

// note takes a proposal if this node has voted for the proposer. The vote behind the
// edict must be later than all votes that this node gave to others. A proposal that was
// under way while another node led must not be noted afterwards, because that node
// learnt from this one that there was none.
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

// persist writes the state down and then reports it.
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

// HandleTimeout does what has become due.
func (m *Machine) HandleTimeout(now timed.Instant, out []Effect) []Effect {
	if m.mayWedge() && now >= m.unboundAt() {
		out = m.wedgeSelf(now, out)
	}
	if now < m.nextReport {
		return out
	}
	if m.state.Phase == Wedged { // by an earlier incarnation, perhaps alone
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
