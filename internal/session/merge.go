package session

import "slices"

// Merge returns the table of a state that is merged from those of branches, in their
// order. A number that was applied in several branches has the result of the first.
//
// A session that some branch has and another has not was opened after they parted, or has
// expired in the other one, which may have applied operations that nobody remembers. Such
// a session ends. The counts tell: a branch in which a session has expired counts at least
// as far as the session did when it was opened.
func Merge(l Limits, branches []*Table) *Table {
	t := NewTable(l)
	for _, b := range branches {
		t.uses, t.expired = max(t.uses, b.uses), max(t.expired, b.expired)
		for _, other := range b.sessions {
			if slices.ContainsFunc(branches, func(o *Table) bool { return o.mayHaveExpired(other) }) {
				continue
			}
			s := t.at(other.id)
			s.opened = other.opened
			s.add(other)
		}
	}
	for _, s := range t.sessions {
		t.trim(s)
	}
	t.expire()
	return t
}

// mayHaveExpired reports whether a session of another branch may have expired in this one.
func (t *Table) mayHaveExpired(s *session) bool {
	return t.find(s.id) == nil && s.opened <= t.expired
}

// add adds what another branch keeps of a session.
func (s *session) add(o *session) {
	s.used, s.last = max(s.used, o.used), max(s.last, o.last)
	for _, k := range o.kept {
		if i, found := s.find(k.number); !found {
			s.kept = slices.Insert(s.kept, i, k)
		}
	}
}
