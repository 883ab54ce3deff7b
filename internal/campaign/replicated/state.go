package replicated

import (
	"bytes"
	"encoding/binary"
	"hash/fnv"
	"slices"

	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/internal/replica"
)

// opID names an operation: its author's boot id and its number there.
type opID [16]byte

func (id opID) compare(o opID) int { return bytes.Compare(id[:], o[:]) }

// state is the state of an application. It has the operations, and a hash of the
// order in which they came since the last restart or merge. Applications with
// equal states applied the same operations in the same order.
type state struct {
	ops     map[opID]bool
	history uint64
	// untidy, if set, makes snapshots of equal states differ.
	untidy *random.Stream
}

func newState() *state { return &state{ops: map[opID]bool{}} }

// apply applies an operation. It reports false if the state has it already.
func (s *state) apply(payload []byte) (fresh bool) {
	id := opID(payload[:16])
	fresh = !s.ops[id]
	s.ops[id] = true
	h := fnv.New64a()
	h.Write(binary.BigEndian.AppendUint64(nil, s.history))
	h.Write(payload)
	s.history = h.Sum64()
	return fresh
}

// canonical returns the one snapshot of the state that depends on nothing else.
func (s *state) canonical() []byte {
	ids := make([]opID, 0, len(s.ops))
	for id := range s.ops {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(x, y opID) int { return bytes.Compare(x[:], y[:]) })
	b := binary.BigEndian.AppendUint64(nil, s.history)
	for _, id := range ids {
		b = append(b, id[:]...)
	}
	return b
}

// snapshot returns the state as this application writes it.
func (s *state) snapshot() []byte {
	b := s.canonical()
	if s.untidy == nil {
		return b
	}
	ids := b[8:]
	for i := range len(ids) / 16 {
		j := int(s.untidy.Below(int64(i + 1)))
		for k := range 16 {
			ids[16*i+k], ids[16*j+k] = ids[16*j+k], ids[16*i+k]
		}
	}
	return b
}

func (s *state) restore(b []byte) {
	clear(s.ops)
	s.history = binary.BigEndian.Uint64(b)
	for b = b[8:]; len(b) > 0; b = b[16:] {
		s.ops[opID(b[:16])] = true
	}
}

// merge makes the state the union of the branches.
func (s *state) merge(branches []replica.Branch) {
	all := map[opID]bool{}
	h := fnv.New64a()
	for _, b := range branches {
		for id := range parse(b.State).ops {
			all[id] = true
		}
		h.Write(b.State)
	}
	s.ops, s.history = all, h.Sum64()
}

// parse returns the state of a snapshot.
func parse(snapshot []byte) *state {
	s := newState()
	s.restore(snapshot)
	return s
}
