package replicated

import (
	"bytes"
	"encoding/binary"
	"hash/fnv"
	"io"
	"maps"
	"slices"

	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/internal/session"
	"github.com/failaware/failaware/timed"
)

// opID names an operation: its author's boot id and its number there.
type opID [16]byte

func (id opID) compare(o opID) int { return bytes.Compare(id[:], o[:]) }

// session returns the id of a session that the operation opens.
func (id opID) session() session.ID {
	return session.ID{Boot: timed.BootID(binary.BigEndian.Uint64(id[:])), Sequence: binary.BigEndian.Uint64(id[8:])}
}

// state is the state of an application. It has the operations, and a hash of the
// order in which they came since the last restart or merge. Applications with
// equal states applied the same operations in the same order.
type state struct {
	ops     map[opID]bool
	history uint64
	// untidy, if set, makes snapshots of equal states differ.
	untidy *random.Stream

	// With sessions, operations are clients' attempts, which come after their ids.
	limits   *session.Limits // nil: there are none
	sessions *session.Table
	once     map[attempt]bool // what was applied of them
}

func newState(l *session.Limits) *state {
	s := &state{ops: map[opID]bool{}, limits: l}
	if l != nil {
		s.sessions, s.once = session.NewTable(*l), map[attempt]bool{}
	}
	return s
}

// apply applies an operation. It reports false if the state has it already.
func (s *state) apply(payload []byte) (answer any, fresh bool) {
	id := opID(payload[:16])
	fresh = !s.ops[id]
	s.ops[id] = true
	h := fnv.New64a()
	h.Write(binary.BigEndian.AppendUint64(nil, s.history))
	h.Write(payload)
	s.history = h.Sum64()
	if s.limits != nil {
		answer = s.sessions.Apply(id.session(), payload[16:], func(command []byte) any {
			if len(command) > 0 {
				a := attempt(command)
				fresh = fresh && !s.once[a]
				s.once[a] = true
			}
			return s.history
		}, session.Sum)
	}
	return answer, fresh
}

// canonical returns the one snapshot of the state that depends on nothing else.
func (s *state) canonical() []byte {
	return s.encode(slices.SortedFunc(maps.Keys(s.ops), opID.compare))
}

func (s *state) encode(ids []opID) []byte {
	b := binary.BigEndian.AppendUint64(nil, s.history)
	if s.limits != nil {
		b = binary.BigEndian.AppendUint32(b, uint32(len(ids)))
	}
	for _, id := range ids {
		b = append(b, id[:]...)
	}
	if s.limits != nil {
		b = binary.BigEndian.AppendUint32(b, uint32(len(s.once)))
		for _, a := range slices.SortedFunc(maps.Keys(s.once), attempt.compare) {
			b = append(b, a[:]...)
		}
		b = s.sessions.Append(b)
	}
	return b
}

// snapshot returns the state as this application writes it.
func (s *state) snapshot() []byte {
	ids := slices.SortedFunc(maps.Keys(s.ops), opID.compare)
	if s.untidy != nil {
		for i := range ids {
			j := int(s.untidy.Below(int64(i + 1)))
			ids[i], ids[j] = ids[j], ids[i]
		}
	}
	return s.encode(ids)
}

func (s *state) restore(b []byte) {
	clear(s.ops)
	s.history = binary.BigEndian.Uint64(b)
	b = b[8:]
	ids := len(b) / 16
	if s.limits != nil {
		ids, b = int(binary.BigEndian.Uint32(b)), b[4:]
	}
	for range ids {
		s.ops[opID(b[:16])] = true
		b = b[16:]
	}
	if s.limits == nil {
		return
	}
	clear(s.once)
	count := int(binary.BigEndian.Uint32(b))
	b = b[4:]
	for range count {
		s.once[attempt(b[:len(attempt{})])] = true
		b = b[len(attempt{}):]
	}
	table, err := session.Parse(*s.limits, b)
	if err != nil {
		panic(err) // the bytes are those of encode
	}
	s.sessions = table
}

// merge makes the state the union of the branches.
func (s *state) merge(branches []replica.Branch) {
	all, once := map[opID]bool{}, map[attempt]bool{}
	var tables []*session.Table
	h := fnv.New64a()
	for _, b := range branches {
		snapshot := bytesOf(b.State)
		o := s.parse(snapshot)
		maps.Copy(all, o.ops)
		maps.Copy(once, o.once)
		tables = append(tables, o.sessions)
		h.Write(snapshot)
	}
	s.ops, s.history = all, h.Sum64()
	if s.limits != nil {
		s.once, s.sessions = once, session.Merge(*s.limits, tables)
	}
}

// bytesOf returns a snapshot.
func bytesOf(c *replica.Content) []byte {
	b, err := io.ReadAll(c.Reader())
	if err != nil {
		panic(err) // it is in memory
	}
	return b
}

// parse returns the state of a snapshot.
func (s *state) parse(snapshot []byte) *state {
	o := newState(s.limits)
	o.restore(snapshot)
	return o
}
