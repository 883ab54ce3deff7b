package kv

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Change is a change of one key.
type Change struct {
	*Entry
	// Revision is that of the state after the change.
	Revision uint64
	// Expired says that the key has ended with its lease.
	Expired bool
	chain   uint64
}

// Place returns the place after the whole revision of the change.
func (c *Change) Place() Place { return Place{c.Revision, uint32(c.chain)} }

// Bytes returns what the change counts, as for [MaxHistoryBytes].
func (c *Change) Bytes() int { return c.bytes() }

// Place is a place in the history of a state.
type Place struct {
	Revision uint64
	// Chain depends on all changes before, and tells equal revisions of different parts
	// apart; 0 stands for any.
	Chain uint32
}

// String returns the text that users give to continue.
func (p Place) String() string { return fmt.Sprintf("%d-%08x", p.Revision, p.Chain) }

// ParsePlace parses a place, or a revision alone.
func ParsePlace(s string) (p Place, err error) {
	if p.Revision, p.Chain, err = parseRevision(s, "-"); err != nil {
		return Place{}, fmt.Errorf("%.40q is not a revision such as 17 or 17-00f1a2b3", s)
	}
	return p, nil
}

// Errors of [State.Reached].
var (
	// ErrCompacted: changes after the place are not kept any more. A merger keeps none before
	// it, so it may also be the reason.
	ErrCompacted = errors.New("the changes after that revision are not kept: they were compacted, or parts have met since")
	// ErrOtherPart: the state at the place was that of another part of the group, or gave
	// way to another state.
	ErrOtherPart = errors.New("that revision is of another part of the group")
	// ErrAhead: the state has not come to the place yet.
	ErrAhead = errors.New("that revision is still to come")
)

// history are the latest changes.
type history struct {
	changes []Change
	base    uint64 // changes after this revision are kept
	chain   uint64 // at base
	bytes   int
	last    uint64 // revision, and the chain at it
	at      uint64
}

// step begins a revision.
func (h *history) step(revision, chain uint64) { h.last, h.at = revision, chain }

// add adds a change of the last revision, and drops whole revisions while there are too
// many changes.
func (h *history) add(c Change) {
	h.changes = append(h.changes, c)
	h.bytes += c.bytes()
	for len(h.changes) > MaxHistory || h.bytes > MaxHistoryBytes {
		first := h.changes[0]
		if first.Revision == h.last {
			break // one revision is more than the limit
		}
		n := 0
		for n < len(h.changes) && h.changes[n].Revision == first.Revision {
			h.bytes -= h.changes[n].bytes()
			h.changes[n] = Change{}
			n++
		}
		h.changes = h.changes[n:]
		h.base, h.chain = first.Revision, first.chain
	}
}

// restart forgets all changes.
func (h *history) restart(revision, chain uint64) {
	*h = history{base: revision, chain: chain, last: revision, at: chain}
}

// chainAt returns the chain at a revision that is kept.
func (h *history) chainAt(revision uint64) uint64 {
	switch revision {
	case h.base:
		return h.chain
	case h.last:
		return h.at
	}
	i, _ := h.find(revision)
	return h.changes[i].chain
}

func (h *history) find(revision uint64) (int, bool) {
	return slices.BinarySearchFunc(h.changes, revision, func(c Change, r uint64) int {
		return cmp.Compare(c.Revision, r)
	})
}

// Place returns the place of the state.
func (s *State) Place() Place { return Place{s.revision, uint32(s.chain)} }

// Oldest returns the oldest revision after which all changes are kept.
func (s *State) Oldest() uint64 { return s.history.base }

// Reached returns nil if the state has come to a place, and has all changes after it. The error
// is [ErrCompacted], [ErrOtherPart] or [ErrAhead].
func (s *State) Reached(p Place) error {
	h := &s.history
	switch {
	case p.Revision > h.last:
		return ErrAhead
	case p.Revision < h.base:
		return ErrCompacted
	case p.Chain != 0 && uint32(h.chainAt(p.Revision)) != p.Chain:
		return ErrOtherPart
	}
	return nil
}

// Since returns the changes after a place: as many whole revisions as count at most so many
// bytes, but at least one. They must not be changed. more says that there are others. The
// errors are those of [State.Reached].
func (s *State) Since(p Place, bytes int) (changes []Change, more bool, err error) {
	if err := s.Reached(p); err != nil {
		return nil, false, err
	}
	h := &s.history
	i, _ := h.find(p.Revision + 1)
	end, sum := i, 0
	for k := i; k < len(h.changes); k++ {
		if sum += h.changes[k].bytes(); sum > bytes && end > i {
			break
		}
		if k+1 == len(h.changes) || h.changes[k+1].Revision != h.changes[k].Revision {
			end = k + 1
		}
	}
	return slices.Clone(h.changes[i:end]), end < len(h.changes), nil
}
