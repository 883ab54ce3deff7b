package replica

import (
	"slices"
	"strconv"

	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// settings has the settings that must be the same at all members. A member sends its own in
// the order, before its report. A member of an earlier build sends none, which counts as the
// same.
type settings struct {
	stored    bool
	hashEvery uint64
}

// settings returns those of this node.
func (c *Config) settings() settings { return settings{c.Stored, uint64(c.HashEvery)} }

// takeSettings records the settings of a member.
func (m *Replica) takeSettings(from timed.NodeID, view membership.ViewID, s settings) {
	if view == m.view.ID {
		m.settings[m.view.Set.Rank(from)] = &s
	}
}

// agree reports whether all members keep the state on disks, or none does. It reports the
// members whose settings differ from this node's. A view of both kinds must not continue: with
// a Quorum they rank states by different numbers, so that an older state could replace an
// acknowledged one, and without a Quorum no operation would ever last.
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
// node, which then has none. Nothing is lost if it ends, and the members with the state
// continue. Without a Quorum a node that was alone counts as remembering too. So if a member
// has more than the initial state, only such members count.
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

// hasState reports whether a member begins the view with a state, which may be the initial
// state of an earlier view.
func (r *report) hasState() bool { return r.remembers || r.hasMore() }

// hasMore reports whether a member begins the view with more than the initial state.
func (r *report) hasMore() bool { return r.standing == Holder || r.standing == Pending }

func setOrNot(set bool) string {
	if set {
		return "set"
	}
	return "not set"
}
