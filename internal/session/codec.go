package session

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/failaware/failaware/internal/fields"
)

// errTable rejects bytes that Append has not written.
var errTable = errors.New("session: not a table of sessions")

// Append appends the encoding of the table. Equal tables have equal encodings, and one
// without sessions that were ever used has none.
func (t *Table) Append(b []byte) []byte {
	if t.uses == 0 {
		return b
	}
	u32, u64 := binary.BigEndian.AppendUint32, binary.BigEndian.AppendUint64
	b = u32(u64(u64(b, t.uses), t.expired), uint32(len(t.sessions)))
	for _, s := range t.sessions {
		b = u32(u64(u64(u64(appendID(b, s.id), s.opened), s.used), s.last), uint32(len(s.kept)))
		for _, k := range s.kept {
			b = u32(u64(u64(b, k.number), k.command), uint32(len(k.result)))
			b = append(b, k.result...)
		}
	}
	return b
}

// Parse returns the table of an encoding.
func Parse(l Limits, b []byte) (*Table, error) {
	t := NewTable(l)
	if len(b) == 0 {
		return t, nil
	}
	r := reader{fields.Reader{Rest: b}}
	t.uses, t.expired = r.Uint64(), r.Uint64()
	for range r.Uint32() {
		s := &session{id: r.id(), opened: r.Uint64(), used: r.Uint64(), last: r.Uint64()}
		for range r.Uint32() {
			k := kept{number: r.Uint64(), command: r.Uint64()}
			k.result = slices.Clone(r.Take(int(r.Uint32())))
			if r.Bad {
				return nil, errTable
			}
			s.kept = append(s.kept, k)
		}
		if r.Bad {
			return nil, errTable
		}
		*t.at(s.id) = *s
	}
	if !r.End() {
		return nil, errTable
	}
	return t, nil
}
