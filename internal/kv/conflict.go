package kv

import (
	"cmp"
	"slices"
)

// Conflict is a value that a merger did not choose for its key, although nothing proves
// that the write of the chosen one was later. It is kept until a user resolves it.
type Conflict struct {
	// Lost is the entry that was not chosen.
	Lost *Entry
	// Kept names the write of the chosen entry.
	Kept        Dot
	KeptVersion Version
	// Revision is that of the state after the merger.
	Revision uint64
	resolved bool // by a command; it is remembered so that mergers do not bring it back
}

func conflictKey(key string, lost Dot) string { return lost.String() + " " + key }

func (c *Conflict) key() string { return conflictKey(c.Lost.Key, c.Lost.Dot) }

func (c *Conflict) bytes() int { return c.Lost.bytes() }

// order orders conflicts by their age.
func (c *Conflict) order(o *Conflict) int {
	return cmp.Or(cmp.Compare(c.Revision, o.Revision), c.Lost.order(o.Lost))
}

// resolve removes a conflict.
func (s *State) resolve(c *Command) Result {
	k := conflictKey(c.Key, c.Lease)
	old, found := s.conflicts.get(k)
	if !found || old.resolved {
		return s.result(NotFound, c.Key)
	}
	lost := *old.Lost
	lost.sum = 0
	lost.Value = nil
	s.conflictBytes -= old.bytes()
	gone := &Conflict{Lost: &lost, Kept: old.Kept, KeptVersion: old.KeptVersion, Revision: old.Revision, resolved: true}
	s.conflictBytes += gone.bytes()
	s.conflicts.set(k, gone)
	return s.result(Done, c.Key)
}

// report adds a conflict. One that is resolved in a branch stays resolved.
func (s *State) report(c *Conflict) {
	if old, found := s.conflicts.get(c.key()); found {
		if old.resolved || !c.resolved {
			return
		}
		s.conflictBytes -= old.bytes()
	}
	s.conflicts.set(c.key(), c)
	s.conflictBytes += c.bytes()
}

// goes orders conflicts by which of them is dropped first.
func (c *Conflict) goes(o *Conflict) int {
	if c.resolved != o.resolved {
		if c.resolved {
			return -1
		}
		return 1
	}
	return c.order(o)
}

// trimConflicts drops conflicts while there are too many: resolved ones first, and then the
// oldest, which are counted. A merger of two large parts may bring a hundred times too many.
func (s *State) trimConflicts() {
	tooMany := func() bool { return s.conflicts.n > MaxConflicts || s.conflictBytes > MaxConflictBytes }
	if !tooMany() {
		return
	}
	all := make([]*Conflict, 0, s.conflicts.n)
	for _, c := range s.conflicts.all() {
		all = append(all, c)
	}
	slices.SortStableFunc(all, (*Conflict).goes)
	for _, c := range all {
		if !tooMany() {
			return
		}
		if !c.resolved {
			s.counts.Forgotten++
		}
		s.conflicts.remove(c.key())
		s.conflictBytes -= c.bytes()
	}
}
