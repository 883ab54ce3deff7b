package epoch

import (
	"errors"
	"fmt"
	"time"

	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/timed"
)

// Config is what a [Machine] needs to know.
type Config struct {
	Self timed.Incarnation
	// Counter is the number of the incarnation, from the state directory.
	Counter uint64
	// ReadyAt is when no vote of an earlier incarnation binds any more.
	ReadyAt timed.Instant
	// Parse reads the text of a quorum system.
	Parse func(string) (System, error)
	// Period is how often the node reports while a change is under way, and
	// IdlePeriod how often otherwise.
	Period, IdlePeriod time.Duration
	// Retry is how long a leader waits for a quorum to note its proposal before
	// it proposes again, under the votes that it then has.
	Retry time.Duration
}

// Machine is one node's part in the epochs of its group. It is a pure machine for
// one goroutine; effects are appended to out.
type Machine struct {
	cfg    Config
	state  State
	system System // nil in epoch 0

	// The votes given.
	votedFor timed.Incarnation
	since    timed.Instant // the first of the votes for it with none for another in between
	bound    timed.Instant // until when they bind

	wedges              []wedges
	conflict, unordered bool // have been told

	// While this node leads.
	leading  bool
	wish     string // what it is to propose
	reports  []report
	own      bool // the proposal noted is this lead's
	noted    timed.Set
	proposed timed.Instant

	nextReport timed.Instant
}

// report is what a voter had noted when it gave its vote in a round.
type report struct {
	from   timed.Incarnation
	number timed.Instant
	state  State
}

// New returns the machine of an incarnation that starts at now with the state
// that was written down last. A node that has none yet begins with the quorum
// system of epoch 1, or, if it is to join, with the zero State: it then learns the
// epoch from others. The error says what is wrong with the settings or the state.
func New(cfg Config, state State, now timed.Instant) (*Machine, error) {
	switch {
	case !cfg.Self.Valid():
		return nil, errors.New("epoch: Self is no incarnation")
	case cfg.Counter == 0:
		return nil, errors.New("epoch: Counter is 0: voters need a state directory to change their quorum system")
	case cfg.Parse == nil:
		return nil, errors.New("epoch: Parse is missing")
	case cfg.Period <= 0 || cfg.IdlePeriod <= 0 || cfg.Retry <= 0:
		return nil, errors.New("epoch: Period, IdlePeriod and Retry must be above 0")
	case state.Phase == Chosen:
		return nil, errors.New("epoch: a state that is merely chosen is never written down")
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

// parse reads a text that stands for a quorum system, and for which no other text
// stands.
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

// State returns what the node knows, for its reports. It must not be changed.
func (m *Machine) State() State { return m.state }

// System returns the quorum system that rules the node's epoch, or nil in epoch 0.
func (m *Machine) System() System { return m.system }

// Busy reports that a change is under way. Votes of a node that is busy must carry
// its state.
func (m *Machine) Busy() bool { return m.state.Phase != Idle }

// Votes reports whether this node's vote for a candidate, whose request names the
// given epoch and quorum system, may carry a stamp, and thus count in a quorum:
// both must be members. Votes without one may be given all the same: they make
// local leaders.
func (m *Machine) Votes(candidate timed.NodeID, epoch, digest uint64) bool {
	if m.system == nil || epoch != m.state.Epoch || digest != m.system.Digest() {
		return false
	}
	// Who leads by the quorum system must be able to note what it proposes.
	if members := m.system.Members(); !members.Has(m.cfg.Self.Node) || !members.Has(candidate) {
		return false
	}
	return m.state.Phase < Chosen
}

// HandleVoted notes that this node has given a stamped vote, with the stamp's
// clock, which binds it until the given instant. Votes that a node gives itself
// count.
func (m *Machine) HandleVoted(to timed.Incarnation, at, until timed.Instant) {
	if to != m.votedFor {
		m.votedFor, m.since = to, at
	}
	m.bound = timed.Later(m.bound, until)
}

// HandleFreed notes that the stamped votes for a candidate bind no more: it has
// given them back.
func (m *Machine) HandleFreed(now timed.Instant, by timed.Incarnation) {
	if by == m.votedFor {
		m.bound = timed.Earlier(m.bound, now)
	}
}

// HandleReport takes what a peer's accepted incarnation says of its epoch.
func (m *Machine) HandleReport(now timed.Instant, from timed.Incarnation, s *State, out []Effect) []Effect {
	switch {
	case s.Epoch > m.state.Epoch:
		return m.enter(now, s.Epoch, s.System, out)
	case s.Epoch < m.state.Epoch:
		return append(out, Effect{Kind: Send, To: from.Node, State: m.state})
	case s.Epoch == 0:
		return out
	case s.System != m.state.System:
		return m.tellConflict(from.Node, s.System, out)
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

// note takes a proposal, if this node has voted for the proposer. The vote that
// the edict rests on must be later than all that this node gave to others: a
// proposal that was under way while another led must not be noted afterwards,
// since that other has been told that there was none.
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

// persist writes the state down, and then reports it.
func (m *Machine) persist(now timed.Instant, out []Effect) []Effect {
	return m.report(now, append(out, Effect{Kind: Persist, State: m.state}))
}

// report tells everybody what this node knows.
func (m *Machine) report(now timed.Instant, out []Effect) []Effect {
	d := m.cfg.IdlePeriod
	if m.Busy() {
		d = m.cfg.Period
	}
	m.nextReport = now.Add(d)
	return append(out, Effect{Kind: Broadcast, State: m.state})
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

// tellConflict tells once in an epoch.
func (m *Machine) tellConflict(peer timed.NodeID, system string, out []Effect) []Effect {
	if m.conflict {
		return out
	}
	m.conflict = true
	return append(out, Effect{Kind: Tell, Event: Event{Conflict, m.state.Epoch, system, peer}})
}
