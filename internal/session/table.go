package session

import (
	"cmp"
	"errors"
	"hash/crc64"
	"slices"
)

// Limits bound a table. They must be the same at all members.
type Limits struct {
	// Sessions is the largest number of sessions. When another is opened, the least
	// recently used one ends.
	Sessions int
	// Window is how many numbers of a session are remembered, up to the largest that was
	// applied. So many operations of a session may be under way.
	Window int
	// Bytes is how many bytes of results of one session are kept, with one more for each, of the
	// latest that fit.
	Bytes int
}

// Errors of operations that were not applied, or whose result is gone.
var (
	// ErrExpired: there is no such session, or none any more.
	ErrExpired = errors.New("the session is not known, or no longer")
	// ErrTooOld: the number is before the window.
	ErrTooOld = errors.New("the number is too far behind the largest of the session")
	// ErrReused: the number was applied before, with another command.
	ErrReused = errors.New("the number was given to another command")
	// ErrResultGone: the operation was applied before, and its result is not kept.
	ErrResultGone = errors.New("the operation was applied before, and its result is not kept")
	// ErrUnknown: the operation is not one of this package.
	ErrUnknown = errors.New("an operation of another version")
)

// Answer is what became of an operation of a session.
type Answer struct {
	Result   any
	Repeated bool // it had been applied before
	Err      error
}

// Table is the sessions of one state. It is a pure machine for one goroutine.
type Table struct {
	limits   Limits
	uses     uint64     // operations of all sessions so far
	expired  uint64     // the largest used of all sessions that have expired
	sessions []*session // in the order of their ids
}

// session is the record of one session.
type session struct {
	id     ID
	opened uint64 // the count of uses when it was opened
	used   uint64 // the count of uses at its last operation
	last   uint64 // the largest number that was applied
	kept   []kept // those numbers of the window that were applied, in ascending order
}

// kept is the record of one operation.
type kept struct {
	number  uint64
	command uint64 // its sum
	result  []byte // encoded; empty if it is not kept
}

// NewTable returns a table without sessions.
func NewTable(l Limits) *Table { return &Table{limits: l} }

// Len returns the number of sessions.
func (t *Table) Len() int { return len(t.sessions) }

// Apply performs an operation, which has an id of its own. It calls apply with the command
// unless the operation was applied before or is refused. The result is that of apply, or
// an [Answer] if the operation is about a session. Commands with equal sums, which sum
// returns, are attempts of one operation.
func (t *Table) Apply(id ID, operation []byte, apply func(command []byte) any, sum func(command []byte) uint64) any {
	o, ok := parse(operation)
	switch {
	case !ok:
		return Answer{Err: ErrUnknown}
	case o.kind == plain:
		return apply(o.command)
	case o.kind == opens:
		t.open(id)
		return Answer{}
	case o.kind == closes:
		t.remove(o.id)
		return Answer{}
	}
	return t.use(&o, sum(o.command), apply)
}

// open begins a session.
func (t *Table) open(id ID) {
	t.uses++
	*t.at(id) = session{id: id, opened: t.uses, used: t.uses}
	t.expire()
}

// search returns where a session is, or would be.
func (t *Table) search(id ID) (int, bool) {
	return slices.BinarySearchFunc(t.sessions, id, func(s *session, id ID) int { return s.id.compare(id) })
}

// find returns a session, or nil.
func (t *Table) find(id ID) *session {
	if i, ok := t.search(id); ok {
		return t.sessions[i]
	}
	return nil
}

// at returns a session, which is new if there was none.
func (t *Table) at(id ID) *session {
	i, ok := t.search(id)
	if !ok {
		t.sessions = slices.Insert(t.sessions, i, &session{id: id})
	}
	return t.sessions[i]
}

func (t *Table) remove(id ID) {
	if i, ok := t.search(id); ok {
		t.sessions = slices.Delete(t.sessions, i, i+1)
	}
}

// expire ends the sessions that are too many.
func (t *Table) expire() {
	for len(t.sessions) > t.limits.Sessions {
		oldest := t.sessions[0]
		for _, s := range t.sessions {
			if s.used < oldest.used {
				oldest = s
			}
		}
		t.expired = max(t.expired, oldest.used)
		t.remove(oldest.id)
	}
}

func (id ID) compare(o ID) int {
	return cmp.Or(cmp.Compare(id.Node, o.Node), cmp.Compare(id.Boot, o.Boot), cmp.Compare(id.Sequence, o.Sequence))
}

// use performs an operation of a session.
func (t *Table) use(o *op, sum uint64, apply func(command []byte) any) Answer {
	s := t.find(o.id)
	if s == nil {
		return Answer{Err: ErrExpired}
	}
	t.uses++
	s.used = t.uses
	i, found := s.find(o.number)
	switch {
	case found && s.kept[i].command != sum:
		return Answer{Err: ErrReused}
	case found:
		result, ok := decodeResult(s.kept[i].result)
		if !ok {
			return Answer{Repeated: true, Err: ErrResultGone}
		}
		return Answer{Repeated: true, Result: result}
	case t.before(o.number, s.last):
		return Answer{Err: ErrTooOld}
	}
	result := apply(o.command)
	s.kept = slices.Insert(s.kept, i, kept{o.number, sum, encodeResult(result, t.limits.Bytes)})
	s.last = max(s.last, o.number)
	t.trim(s)
	return Answer{Result: result}
}

// find returns where a number is in kept, or would be.
func (s *session) find(number uint64) (int, bool) {
	return slices.BinarySearchFunc(s.kept, number, func(k kept, n uint64) int { return cmp.Compare(k.number, n) })
}

// before reports whether a number is before the window that ends with last.
func (t *Table) before(number, last uint64) bool {
	return number == 0 || last >= uint64(t.limits.Window) && number <= last-uint64(t.limits.Window)
}

// trim drops what is beyond the limits of one session.
func (t *Table) trim(s *session) {
	s.kept = slices.DeleteFunc(s.kept, func(k kept) bool { return t.before(k.number, s.last) })
	bytes := 0
	for i := len(s.kept) - 1; i >= 0; i-- {
		if bytes += len(s.kept[i].result); bytes > t.limits.Bytes {
			bytes -= len(s.kept[i].result)
			s.kept[i].result = nil
		}
	}
}

var polynomial = crc64.MakeTable(crc64.ECMA)

// Sum is the sum of a command whose attempts are equal.
func Sum(b []byte) uint64 { return crc64.Checksum(b, polynomial) }
