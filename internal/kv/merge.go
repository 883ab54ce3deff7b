package kv

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/failaware/failaware/clocksync"
)

// Merge makes the state that of several parts which meet. It depends on nothing but them
// and their order.
//
// For each key, the write that knew of all others stays. Among writes that did not know of
// each other the last one stays, if the readings of their writers' clocks prove which one
// that is. Otherwise one of them stays, and the others become conflicts.
func (s *State) Merge(branches []*State) {
	m, most := State{kind: s.kind}, uint64(0)
	for _, b := range branches {
		m.revision = max(m.revision, b.revision)
		m.chain = mix(m.chain, b.chain)
		m.seen.join(&b.seen)
		most, m.told = max(most, b.seen.clock), m.told || b.told
		m.counts.Expired = max(m.counts.Expired, b.counts.Expired)
		m.counts.Overtaken = max(m.counts.Overtaken, b.counts.Overtaken)
		m.counts.Forgotten = max(m.counts.Forgotten, b.counts.Forgotten)
		for _, d := range b.void {
			if !slices.Contains(m.void, d) {
				m.void = append(m.void, d)
			}
		}
		for _, c := range b.conflicts.all() {
			m.report(c)
		}
	}
	m.void = m.void[max(0, len(m.void)-maxVoid):]
	if m.told {
		m.seen.clock = max(m.seen.clock, most) + 1 // no Tick from before the merger has seen so much
	}
	for _, b := range branches {
		for _, l := range b.leases.all() {
			m.joinLease(l)
		}
	}
	m.revision++
	m.history.restart(m.revision, m.chain)
	for _, b := range branches {
		for key := range b.keys.all() {
			if _, done := m.keys.get(key); !done {
				m.link(m.choose(key, branches))
			}
		}
	}
	m.trim()
	m.trimConflicts()
	*s = m
}

// joinLease adds a lease of a branch. Its time begins anew, after the merger.
func (s *State) joinLease(l *lease) {
	j := &lease{id: l.id, ttl: l.ttl}
	if s.told {
		j.wait(s.seen.clock)
	}
	s.leases.set(l.id.String(), j)
	s.stray = true
}

// candidate is the entry of a key in a branch, or in several.
type candidate struct {
	*Entry
	in []*State
}

// knows reports whether a branch of the candidate has seen a write.
func (c candidate) knows(d Dot) bool {
	return slices.ContainsFunc(c.in, func(s *State) bool { return s.seen.has(d) })
}

// choose returns the entry that a key has after a merger, and reports conflicts.
func (s *State) choose(key string, branches []*State) *Entry {
	var all []candidate
	for _, b := range branches {
		e, found := b.keys.get(key)
		if !found {
			continue // a key that a part does not have says nothing
		}
		i := slices.IndexFunc(all, func(c candidate) bool { return c.Dot == e.Dot })
		if i < 0 {
			all = append(all, candidate{e, []*State{b}})
			continue
		}
		all[i].in = append(all[i].in, b)
		if all[i].order(e) < 0 { // the parts have ordered one write at two places
			all[i].Entry = e
		}
	}
	rest := slices.DeleteFunc(slices.Clone(all), func(c candidate) bool {
		return slices.ContainsFunc(all, c.overwrittenBy)
	})
	last := slices.DeleteFunc(slices.Clone(rest), func(c candidate) bool {
		return slices.ContainsFunc(rest, c.surelyBefore)
	})
	if len(last) == 0 { // no clocks that keep their bounds lead to this
		last = rest
	}
	s.counts.Overtaken += uint64(len(rest) - len(last))
	kept := slices.MaxFunc(last, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.At.Time, b.At.Time), a.order(b.Entry))
	})
	for _, c := range last {
		if c.Deleted != kept.Deleted || !bytes.Equal(c.Value, kept.Value) {
			s.report(&Conflict{Lost: c.Entry, Kept: kept.Dot, KeptVersion: kept.Version, Revision: s.revision})
		}
	}
	return kept.Entry
}

// overwrittenBy reports whether the part of another candidate has seen the write of this
// one, and now has a write that the part of this one has not seen.
func (c candidate) overwrittenBy(o candidate) bool {
	return o.Dot != c.Dot && o.knows(c.Dot) && !c.knows(o.Dot)
}

// surelyBefore reports whether a candidate was surely written before another.
func (c candidate) surelyBefore(o candidate) bool {
	before, err := clocksync.Order(c.At, o.At)
	return err == nil && before == clocksync.Earlier
}
