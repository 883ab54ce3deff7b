package replica

import (
	"cmp"
	"slices"

	"github.com/failaware/failaware/timed"
)

// maxChecks limits the positions that are compared at the same time.
const maxChecks = 16

// check has the hashes of the members' states at one position, as far as they are known.
type check struct {
	at   Point
	sums []sum // by member of the view
}

type sum struct {
	known bool
	value uint64
}

// HandleHash takes the hash that a Hash effect asked for, and sends it to the others.
func (m *Replica) HandleHash(now timed.Instant, at Point, value uint64, out []Effect) []Effect {
	return m.turn(now, out, func() {
		if m.view == nil || at.View != m.view.ID {
			return
		}
		m.broadcast(unordered, message{kind: kindHash, at: at, sum: value})
		m.takeHash(m.cfg.Self.Node, at, value)
	})
}

// takeHash compares a member's hash with this node's, once both are known.
func (m *Replica) takeHash(from timed.NodeID, at Point, value uint64) {
	if at.View != m.view.ID {
		return
	}
	c := m.checkAt(at)
	if c == nil {
		return
	}
	self, i := m.view.Set.Rank(m.cfg.Self.Node), m.view.Set.Rank(from)
	if c.sums[i].known {
		return // the broadcast delivers this node's own hash too
	}
	c.sums[i] = sum{true, value}
	if !c.sums[self].known {
		return
	}
	for j := range c.sums {
		if other := c.sums[j]; other.known && (i == self || j == i) && other.value != c.sums[self].value {
			m.notify(Event{Kind: EventDiverged, Member: m.view.Members[j].Node, At: at, Ours: c.sums[self].value, Theirs: other.value})
		}
	}
}

// checkAt returns the check of a position, or nil if the position is too old. Beyond maxChecks, the
// oldest one stays until all members have been compared there: otherwise a member that always
// lags further behind would never be.
func (m *Replica) checkAt(at Point) *check {
	i, found := slices.BinarySearchFunc(m.checks, at.Position, func(c check, p uint64) int { return cmp.Compare(c.at.Position, p) })
	if found {
		return &m.checks[i]
	}
	if len(m.checks) == maxChecks {
		drop := 0
		if slices.ContainsFunc(m.checks[0].sums, func(s sum) bool { return !s.known }) {
			drop = 1
		}
		if i <= drop {
			return nil
		}
		m.checks = slices.Delete(m.checks, drop, drop+1)
		i--
	}
	m.checks = slices.Insert(m.checks, i, check{at, make([]sum, len(m.view.Members))})
	return &m.checks[i]
}
