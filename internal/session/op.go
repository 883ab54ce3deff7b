package session

import (
	"encoding/binary"

	"github.com/failaware/failaware/timed"
)

// ID names a session. It is the id of the operation that opened it.
type ID struct {
	Node     timed.NodeID
	Boot     timed.BootID
	Sequence uint64
}

const idBytes = 1 + 8 + 8

// kind tells operations apart; it is their first byte.
type kind uint8

const (
	plain kind = iota // a command without a session
	opens
	uses
	closes
)

// Overhead is how many bytes an operation takes besides its command, at most.
const Overhead = 1 + idBytes + 8

func appendID(b []byte, id ID) []byte {
	b = binary.BigEndian.AppendUint64(append(b, byte(id.Node)), uint64(id.Boot))
	return binary.BigEndian.AppendUint64(b, id.Sequence)
}

// AppendPlain appends an operation without a session.
func AppendPlain(b, command []byte) []byte { return append(append(b, byte(plain)), command...) }

// AppendOpen appends the operation that opens a session, whose id is that of the
// operation.
func AppendOpen(b []byte) []byte { return append(b, byte(opens)) }

// AppendUse appends an operation of a session. Numbers begin at 1.
func AppendUse(b []byte, id ID, number uint64, command []byte) []byte {
	b = binary.BigEndian.AppendUint64(appendID(append(b, byte(uses)), id), number)
	return append(b, command...)
}

// AppendClose appends the operation that ends a session.
func AppendClose(b []byte, id ID) []byte { return appendID(append(b, byte(closes)), id) }

// op is an operation.
type op struct {
	kind    kind
	id      ID // uses, closes
	number  uint64
	command []byte
}

// parse reads an operation, whose command points into it.
func parse(b []byte) (o op, ok bool) {
	r := reader{b: b}
	o.kind = kind(r.byte())
	switch o.kind {
	case plain:
		o.command, r.b = r.b, nil
	case opens:
	case uses:
		o.id, o.number = r.id(), r.u64()
		o.command, r.b = r.b, nil
	case closes:
		o.id = r.id()
	default:
		return o, false
	}
	return o, !r.bad && len(r.b) == 0
}

// reader reads bytes. After the first missing field, all fields are missing.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) take(n int) []byte {
	if r.bad || n < 0 || len(r.b) < n {
		r.bad = true
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) u32() uint32 {
	if b := r.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (r *reader) u64() uint64 {
	if b := r.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

func (r *reader) id() ID {
	return ID{Node: timed.NodeID(r.byte()), Boot: timed.BootID(r.u64()), Sequence: r.u64()}
}
