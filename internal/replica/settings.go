package replica

import (
	"slices"
	"strconv"

	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// settings are those that must be the same at all members. A member says its own in the
// order, before its report. Those of a member that does not, because it is of an earlier
// build, count as right.
type settings struct {
	stored    bool
	hashEvery uint64
}

// settings returns those of this node.
func (c *Config) settings() settings { return settings{c.Stored, uint64(c.HashEvery)} }

// takeSettings notes the settings of a member.
func (m *Replica) takeSettings(from timed.NodeID, view membership.ViewID, s settings) {
	if view == m.view.ID {
		m.settings[m.view.Set.Rank(from)] = &s
	}
}

// agree reports whether all members keep the state on disks, or none does, and tells of
// those that differ from this one. A view of both must not go on: with a Quorum they rank
// states by different numbers, so a state that was acknowledged could give way to an older
// one, and without one no operation would ever last.
func (m *Replica) agree() bool {
	agreed, own := true, m.cfg.settings()
	var last Event
	for i, s := range m.settings {
		if s == nil {
			continue
		}
		e := Event{Kind: EventDiffers, Member: m.view.Members[i].Node}
		if s.stored != own.stored {
			agreed = false
			e.Setting, e.Here, e.There = "Storage", setOrNot(own.stored), setOrNot(s.stored)
			m.notify(e)
			last = e
		}
		if s.hashEvery != own.hashEvery {
			e.Setting, e.Here, e.There = "HashEvery", strconv.FormatUint(own.hashEvery, 10), strconv.FormatUint(s.hashEvery, 10)
			m.notify(e)
		}
	}
	if !agreed && m.newcomer() {
		m.emit(Effect{Kind: Withdraw, Event: &last})
	}
	return agreed
}

// newcomer reports whether there are members with a state, and all of them differ from this
// node, which then has none. Nothing is lost if it ends, and those that have the state go on.
// Without a Quorum a node that led alone remembers as much as others; where somebody has
// more than the initial state, that alone counts.
func (m *Replica) newcomer() (others bool) {
	count := (*report).hasState
	if m.cfg.Quorum == nil && slices.ContainsFunc(m.reports, (*report).hasMore) {
		count = (*report).hasMore
	}
	for i, r := range m.reports {
		if !count(r) {
			continue
		}
		if s := m.settings[i]; s == nil || s.stored == m.cfg.Stored {
			return false
		}
		others = true
	}
	return others
}

// hasState reports whether a member begins the view with a state, which may be the initial one
// that it was in a view with.
func (r *report) hasState() bool { return r.remembers || r.hasMore() }

// hasMore reports whether a member begins the view with more than the initial state.
func (r *report) hasMore() bool { return r.standing == Holder || r.standing == Pending }

func setOrNot(set bool) string {
	if set {
		return "set"
	}
	return "not set"
}
