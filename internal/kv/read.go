package kv

import (
	"slices"
	"strings"
	"time"

	"github.com/failaware/failaware/clocksync"
)

// Kind returns the kind of the store.
func (s *State) Kind() Kind { return s.kind }

// Get returns the entry of a key, or nil.
func (s *State) Get(key string) *Entry { return s.entry(key) }

// List returns the entries of keys that begin with a prefix and come after a key, in the
// order of the keys. It returns at most limit entries, which together count at most so many
// bytes unless there is only one. more says that there are others.
func (s *State) List(prefix, after string, limit, bytes int) (entries []*Entry, more bool) {
	start := prefix
	if after >= prefix && after != "" {
		start = after + "\x00"
	}
	sum := 0
	for key, e := range s.keys.from(start) {
		switch {
		case !strings.HasPrefix(key, prefix):
			return entries, false
		case e.Deleted:
			continue
		case len(entries) == limit || len(entries) > 0 && sum+e.bytes() > bytes:
			return entries, true
		}
		entries, sum = append(entries, e), sum+e.bytes()
	}
	return entries, false
}

// Lease is what users may know of a lease.
type Lease struct {
	ID  Dot
	TTL time.Duration
	// End is the group time of Timeline after which the lease ends; none while it waits for its
	// time to begin.
	Timeline clocksync.TimelineID
	End      clocksync.Time
	Keys     []string
}

// Lease returns a lease.
func (s *State) Lease(id Dot) (out Lease, found bool) {
	l, found := s.leases.get(id.String())
	if found {
		out = l.public()
	}
	return out, found
}

func (l *lease) public() Lease {
	out := Lease{ID: l.id, TTL: l.ttl}
	if !l.timeline.None() {
		out.Timeline, out.End = l.timeline, l.end
	}
	for key := range l.keys.all() {
		out.Keys = append(out.Keys, key)
	}
	return out
}

// Summary says how much a state has.
type Summary struct {
	Keys, Bytes, Leases, History, Tombstones int
	// Conflicts are those that nobody has resolved.
	Conflicts int
	Counts
}

// Summary returns how much the state has.
func (s *State) Summary() Summary {
	return Summary{Keys: s.live, Bytes: s.bytes, Leases: s.leases.n, History: len(s.history.changes),
		Tombstones: s.tombs, Conflicts: s.unresolved(), Counts: s.counts}
}

// unresolved returns how many conflicts nobody has resolved.
func (s *State) unresolved() (n int) {
	for _, c := range s.conflicts.all() {
		if !c.resolved {
			n++
		}
	}
	return n
}

// Conflicts returns the conflicts of keys that begin with a prefix, oldest first. They must
// not be changed.
func (s *State) Conflicts(prefix string) (out []*Conflict) {
	for _, c := range s.conflicts.all() {
		if !c.resolved && strings.HasPrefix(c.Lost.Key, prefix) {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, (*Conflict).order)
	return out
}
