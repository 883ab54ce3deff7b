// Package claim decides whether a node may keep an id that it has chosen by itself. There
// is nobody who could give ids out: any part of a split group must be able to take new
// nodes in, so two parts may choose the same id, and no proof excludes that. A node hence
// chooses at random, claims the id, and lets itself be refused. While it claims, it
// neither votes nor requests votes, nor says that it hears anybody, so nobody counts on
// it. It is pure: the loop tells it what comes.
package claim

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// Verdict is the state of a claim.
type Verdict uint8

// The verdicts. The last two are final.
const (
	Undecided Verdict = iota
	Confirmed         // the node may keep the id
	Refused           // another process has the id, or claims it too
)

// Limits, in units of Timing.Expires.
const (
	settle = 2  // how long nobody may object, from the first acceptance on
	lone   = 10 // how long nobody may be heard, before a node begins a group of its own
)

// Machine is one claim. It is for one goroutine.
type Machine struct {
	settle  time.Duration
	at      timed.Instant // when it is confirmed if nothing more comes
	met     bool          // a peer has accepted this node
	verdict Verdict
	used    timed.Set
}

// New returns a claim that begins at now.
func New(t *timed.Timing, now timed.Instant) *Machine {
	return &Machine{settle: settle * t.Expires, at: now.Add(lone * t.Expires)}
}

// NoteAcceptance notes that a peer accepts this incarnation. Had another incarnation of
// the id been heard by that peer within Expires, it would refuse this one.
func (m *Machine) NoteAcceptance(now timed.Instant) {
	if !m.met {
		m.met, m.at = true, now.Add(m.settle)
	}
}

// NoteRefusal notes that a peer refuses this incarnation, because it hears another one of
// the id. used are ids that the peer knows to be in use.
func (m *Machine) NoteRefusal(used timed.Set) {
	m.used = m.used.Union(used)
	m.refuse()
}

// NoteRival notes an authentic packet of another incarnation of the id. It may be late,
// and its sender may claim the id too: to choose again costs nothing in either case.
func (m *Machine) NoteRival() { m.refuse() }

func (m *Machine) refuse() {
	if m.verdict == Undecided {
		m.verdict = Refused
	}
}

// Deadline returns when HandleTimeout is next due.
func (m *Machine) Deadline() timed.Instant {
	if m.verdict != Undecided {
		return timed.Never
	}
	return m.at
}

// HandleTimeout returns the verdict at now.
func (m *Machine) HandleTimeout(now timed.Instant) Verdict {
	if m.verdict == Undecided && now >= m.at {
		m.verdict = Confirmed
	}
	return m.verdict
}

// Used returns ids that are in use, as peers have said with their refusals.
func (m *Machine) Used() timed.Set { return m.used }

// Choose returns one of the ids that are not in use, by a random number, or NoNode if
// there is none.
func Choose(used timed.Set, random uint64) timed.NodeID {
	free := timed.MaxNodes - used.Len()
	if free == 0 {
		return timed.NoNode
	}
	skip := random % uint64(free)
	for id := timed.NodeID(1); ; id++ {
		if used.Has(id) {
			continue
		}
		if skip == 0 {
			return id
		}
		skip--
	}
}
