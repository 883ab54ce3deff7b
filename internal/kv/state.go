package kv

import (
	"cmp"
	"slices"

	"github.com/failaware/failaware/clocksync"
)

// State is the state of a store.
type State struct {
	kind     Kind
	revision uint64 // of the last change
	chain    uint64 // depends on all changes before, so that equal revisions of different parts differ
	keys     index[string, *Entry]
	live     int    // keys that are not deleted
	bytes    int    // of all keys, deleted ones included
	tombs    int    // deleted keys that are remembered
	content  uint64 // of the hashes of all keys, deleted ones included
	clock    orderedClock
	leases   index[string, *lease]
	soonest  clocksync.Time // no lease of the clock's timeline ends before
	stray    bool           // a lease may be on another timeline, or wait
	told     bool           // a Tick has said what its writer had seen
	history  history
	seen     dots  // of the commands that had an effect
	void     []Dot // of the latest ones that had none

	conflicts     index[string, *Conflict]
	conflictBytes int
	counts        Counts
}

// Counts are how often something has happened to the states that have become this one.
type Counts struct {
	// Expired keys have ended with their leases.
	Expired uint64
	// Overtaken values of another part gave way, at a merger, to a write that was surely
	// later.
	Overtaken uint64
	// Forgotten conflicts were dropped because there were too many.
	Forgotten uint64
}

// New returns an empty state.
func New(kind Kind) *State { return &State{kind: kind} }

// Apply performs a command. It keeps parts of b's content only as copies.
func (s *State) Apply(b []byte) Result {
	c, err := Decode(b)
	if err != nil {
		return s.result(Invalid, "")
	}
	if s.seen.has(c.Dot) || slices.Contains(s.void, c.Dot) {
		return s.result(Repeated, c.Key)
	}
	s.advance(&c)
	before := s.revision
	r := s.perform(&c)
	switch {
	case r.Status == Done:
		s.seen.add(c.Dot)
	default:
		s.void = append(s.void, c.Dot)
		s.void = s.void[max(0, len(s.void)-maxVoid):]
	}
	if s.revision != before {
		s.trim()
	}
	return r
}

// result returns a result, with the version of a key.
func (s *State) result(status Status, key string) Result {
	return Result{Status: status, Revision: s.revision, Version: s.versionOf(key)}
}

func (s *State) versionOf(key string) Version {
	if e := s.entry(key); e != nil {
		return e.Version
	}
	return Version{}
}

// entry returns the entry of a key that exists, or nil.
func (s *State) entry(key string) *Entry {
	if e, found := s.keys.get(key); found && !e.Deleted {
		return e
	}
	return nil
}

// perform performs a command, after advance has taken its reading.
func (s *State) perform(c *Command) Result {
	switch c.Op {
	case Put:
		return s.put(c)
	case Delete:
		return s.delete(c)
	case Grant:
		return s.grant(c)
	case Renew:
		return s.renew(c)
	case Revoke:
		return s.revoke(c)
	case Resolve:
		return s.resolve(c)
	}
	return s.result(Done, "") // Tick
}

// matches reports whether a key has the version that a command demands.
func (s *State) matches(c *Command) bool { return !c.Match || s.versionOf(c.Key) == c.Version }

func (s *State) put(c *Command) Result {
	old := s.entry(c.Key)
	if !s.matches(c) {
		return s.result(Mismatch, c.Key)
	}
	e := &Entry{Key: c.Key, Value: c.Value, Dot: c.Dot, At: c.At, Lease: c.Lease}
	if c.TTL != 0 {
		e.Lease = c.Dot
	} else if c.Lease != (Dot{}) {
		if _, found := s.leases.get(c.Lease.String()); !found {
			return s.result(NotFound, c.Key)
		}
	}
	limit, more := "", e.bytes()
	if old != nil {
		more -= old.bytes()
	}
	switch {
	case old == nil && s.live >= MaxKeys:
		limit = LimitKeys
	case more > 0 && s.bytes+more > MaxBytes:
		limit = LimitBytes
	case c.TTL != 0 && s.leases.n >= MaxLeases && !s.loneLease(old):
		limit = LimitLeases
	}
	if limit != "" {
		r := s.result(Full, c.Key)
		r.Limit = limit
		return r
	}
	s.step(c.Dot)
	e.Version, e.Created = s.version(c.Dot), s.revision
	if old != nil {
		e.Created = old.Created
	}
	if c.TTL != 0 {
		s.addLease(c)
	}
	s.write(e)
	r := s.result(Done, c.Key)
	if c.TTL != 0 {
		r.Lease = c.Dot
	}
	return r
}

func (s *State) delete(c *Command) Result {
	old := s.entry(c.Key)
	switch {
	case !s.matches(c):
		return s.result(Mismatch, c.Key)
	case old == nil:
		return s.result(NotFound, c.Key)
	}
	s.step(c.Dot)
	s.deleteKey(c.Key, c.Dot, c.At)
	return s.result(Done, c.Key)
}

// step begins the next revision, which a command makes.
func (s *State) step(d Dot) {
	s.revision++
	s.chain = mix(mix(s.chain, d.Writer), d.Number)
	s.history.step(s.revision, s.chain)
}

// version returns the version of a key that a command writes in this revision.
func (s *State) version(d Dot) Version {
	v := Version{Revision: s.revision}
	if s.kind == Partitionable {
		v.Mark = mark(d)
	}
	return v
}

// deleteKey deletes a key in this revision, by the command of a dot. A partitionable state
// remembers that.
func (s *State) deleteKey(key string, d Dot, at clocksync.Reading) {
	s.write(&Entry{Key: key, Version: s.version(d), Dot: d, At: at, Deleted: true})
}

// write makes an entry that of its key, and a change of this revision. The lease that the
// former write has made for its key alone ends.
func (s *State) write(e *Entry) {
	old := s.entry(e.Key)
	alone := s.loneLease(old)
	s.discount(e.Key)
	if alone && e.Lease != old.Lease {
		s.leases.remove(old.Lease.String())
	}
	s.link(e)
	s.history.add(Change{Entry: e, Revision: s.revision, chain: s.chain})
}

// link makes an entry that of its key. The former one, if any, does not count any more.
func (s *State) link(e *Entry) {
	switch {
	case !e.Deleted:
		s.live++
		if l := s.leaseOf(e); l != nil {
			l.keys.set(e.Key, struct{}{})
		}
	case s.kind == Partitionable:
		s.tombs++
	default:
		s.keys.remove(e.Key)
		return
	}
	s.bytes += e.bytes()
	s.content ^= e.hash()
	s.keys.set(e.Key, e)
}

// leaseOf returns the lease that a key ends with, or nil.
func (s *State) leaseOf(e *Entry) *lease {
	if e.Lease == (Dot{}) {
		return nil // most keys: the text of a dot takes its time
	}
	l, _ := s.leases.get(e.Lease.String())
	return l
}

// unlink removes the entry of a key, if there is one.
func (s *State) unlink(key string) {
	if s.discount(key) {
		s.keys.remove(key)
	}
}

// discount takes the entry of a key out of all that is counted, and reports whether there is
// one.
func (s *State) discount(key string) bool {
	e, found := s.keys.get(key)
	if !found {
		return false
	}
	if e.Deleted {
		s.tombs--
	} else {
		s.live--
		if l := s.leaseOf(e); l != nil {
			l.keys.remove(key)
		}
	}
	s.bytes -= e.bytes()
	s.content ^= e.hash()
	return true
}

// trim drops the oldest deletions that are remembered when there are too many, a tenth of
// them at once.
func (s *State) trim() {
	if s.tombs <= MaxTombstones {
		return
	}
	var dead []*Entry
	for _, e := range s.keys.all() {
		if e.Deleted {
			dead = append(dead, e)
		}
	}
	slices.SortFunc(dead, (*Entry).order)
	for _, e := range dead[:len(dead)-MaxTombstones*9/10] {
		s.unlink(e.Key)
	}
}

// order orders entries by their versions, and then by their dots and keys, which tell
// any two apart.
func (e *Entry) order(o *Entry) int {
	return cmp.Or(cmp.Compare(e.Version.Revision, o.Version.Revision), e.Dot.compare(o.Dot), cmp.Compare(e.Key, o.Key))
}
