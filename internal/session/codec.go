package session

import (
	"encoding/binary"
	"errors"
	"slices"
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
	r := reader{b: b}
	t.uses, t.expired = r.u64(), r.u64()
	for range r.u32() {
		s := &session{id: r.id(), opened: r.u64(), used: r.u64(), last: r.u64()}
		for range r.u32() {
			k := kept{number: r.u64(), command: r.u64()}
			k.result = slices.Clone(r.take(int(r.u32())))
			if r.bad {
				return nil, errTable
			}
			s.kept = append(s.kept, k)
		}
		if r.bad {
			return nil, errTable
		}
		*t.at(s.id) = *s
	}
	if r.bad || len(r.b) > 0 {
		return nil, errTable
	}
	return t, nil
}
