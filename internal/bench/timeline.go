package bench

import (
	"cmp"
	"slices"
	"time"

	"github.com/failaware/failaware/timed"
)

// timeline holds the reports of several nodes in the order of their instants, which are
// comparable because the nodes share a hardware clock.
type timeline struct {
	ids    timed.Set
	states []timedState
}

type timedState struct {
	id timed.NodeID
	state
}

// now is the state of each node at one instant.
type now [timed.MaxNodes + 1]state

// timelineOf returns the reports of nodes.
func (g *group) timelineOf(ids timed.Set) *timeline {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := &timeline{ids: ids}
	for id := range ids.All() {
		for _, s := range g.members[id].log {
			t.states = append(t.states, timedState{id, s})
		}
	}
	slices.SortStableFunc(t.states, func(a, b timedState) int { return cmp.Compare(a.At, b.At) })
	return t
}

// first returns the first instant from since on at which cond holds.
func (t *timeline) first(since timed.Instant, cond func(*now) bool) (timed.Instant, bool) {
	var n now
	for i, s := range t.states {
		n[s.id] = s.state
		at := timed.Later(s.At, since)
		last := i+1 == len(t.states)
		if (last || t.states[i+1].At > since) && cond(&n) {
			return at, true
		}
	}
	return 0, false
}

// total returns the time for which cond held between two instants.
func (t *timeline) total(since, until timed.Instant, cond func(*now) bool) (sum time.Duration) {
	var n now
	from, held := since, false
	for _, s := range t.states {
		if s.At >= until {
			break
		}
		n[s.id] = s.state
		at := timed.Later(s.At, since)
		if held {
			sum += at.Sub(from)
		}
		from, held = at, cond(&n)
	}
	if held {
		sum += until.Sub(from)
	}
	return sum
}

// led reports whether one of the nodes leads all of them, by the votes of all.
func (t *timeline) led(n *now) bool {
	l := n[t.ids.Min()].Leader
	if !t.ids.Has(l) || !n[l].Leads || !t.ids.Subset(n[l].Support) {
		return false
	}
	for id := range t.ids.All() {
		if !n[id].Held || n[id].Leader != l {
			return false
		}
	}
	return true
}

// fresh reports whether all the nodes hold one fresh view, of just them.
func (t *timeline) fresh(n *now) bool {
	v := n[t.ids.Min()].View
	for id := range t.ids.All() {
		if !n[id].Fresh || n[id].View != v || n[id].Members != t.ids {
			return false
		}
	}
	return true
}

// leaderless reports whether none of the nodes leads.
func (t *timeline) leaderless(n *now) bool {
	for id := range t.ids.All() {
		if n[id].Leads {
			return false
		}
	}
	return true
}

// longestStale returns the longest total time for which any of the nodes had no fresh
// view between two instants.
func (t *timeline) longestStale(since, until timed.Instant) (longest time.Duration) {
	for id := range t.ids.All() {
		longest = max(longest, t.total(since, until, func(n *now) bool { return !n[id].Fresh }))
	}
	return longest
}

// current returns the state of each of the nodes by the latest reports, under
// the lock of the group.
func (g *group) current(ids timed.Set) *now {
	n := new(now)
	for id := range ids.All() {
		n[id] = g.latest(id)
	}
	return n
}
