package epoch

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/failaware/failaware/internal/fields"
	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/timed"
)

// The binary form of a state is the version, the phase with a bit for "agreed", the
// epoch as a uvarint, and then, each preceded by its length as a uvarint, the two
// texts, the edict (empty if there is none) and the dead, one byte each, in ascending
// order. It has no checksum; packets and files have their own.

const (
	codecVersion = 1
	agreedBit    = 0x80
)

// ErrMalformed means that bytes do not encode a state.
var ErrMalformed = errors.New("epoch: malformed state")

// Append appends the binary form of a state to b.
func Append(b []byte, s *State) []byte {
	phase := byte(s.Phase)
	if s.Agreed {
		phase |= agreedBit
	}
	b = append(b, codecVersion, phase)
	b = binary.AppendUvarint(b, s.Epoch)
	for _, text := range [...]string{s.System, s.Next} {
		b = binary.AppendUvarint(b, uint64(len(text)))
		b = append(b, text...)
	}
	var e []byte
	if s.Phase == Noted {
		e = edict.Append(nil, &s.Edict)
	}
	b = binary.AppendUvarint(b, uint64(len(e)))
	b = append(b, e...)
	b = binary.AppendUvarint(b, uint64(s.Dead.Len()))
	for id := s.Dead.Next(0); id != 0; id = s.Dead.Next(id) {
		b = append(b, byte(id))
	}
	return b
}

// Decode reads the binary form. The state does not alias b. Errors match
// [ErrMalformed].
func Decode(b []byte) (State, error) {
	var s State
	if len(b) < 2 || b[0] != codecVersion {
		return s, fmt.Errorf("%w: unknown version", ErrMalformed)
	}
	s.Phase, s.Agreed = Phase(b[1]&^agreedBit), b[1]&agreedBit != 0
	r := reader{fields.Reader{Rest: b[2:]}}
	s.Epoch = r.Uvarint()
	s.System = string(r.bytes(MaxSystem))
	s.Next = string(r.bytes(MaxSystem))
	e := r.bytes(edict.MaxSize)
	dead := r.bytes(timed.MaxNodes)
	if !r.End() {
		return s, fmt.Errorf("%w: wrong length, or a number is not in its shortest form", ErrMalformed)
	}
	for i, id := range dead {
		if id == 0 || i > 0 && id <= dead[i-1] {
			return s, fmt.Errorf("%w: dead members are out of order", ErrMalformed)
		}
		s.Dead.Add(timed.NodeID(id))
	}
	if len(e) > 0 {
		var err error
		if s.Edict, err = edict.Decode(e); err != nil {
			return s, fmt.Errorf("%w: %w", ErrMalformed, err)
		}
	}
	if err := s.check(); err != nil {
		return s, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return s, nil
}

// reader reads fields.
type reader struct{ fields.Reader }

// bytes reads up to most bytes, preceded by their number.
func (r *reader) bytes(most int) []byte {
	n := r.Uvarint()
	if n > uint64(most) {
		r.Bad = true
	}
	return r.Take(int(n))
}
