package session

import (
	"encoding/binary"

	"github.com/failaware/failaware/internal/fields"
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
	r := reader{fields.Reader{Rest: b}}
	o.kind = kind(r.Byte())
	switch o.kind {
	case plain:
		o.command = r.All()
	case opens:
	case uses:
		o.id, o.number = r.id(), r.Uint64()
		o.command = r.All()
	case closes:
		o.id = r.id()
	default:
		return o, false
	}
	return o, r.End()
}

// reader reads fields.
type reader struct{ fields.Reader }

func (r *reader) id() ID {
	return ID{Node: timed.NodeID(r.Byte()), Boot: timed.BootID(r.Uint64()), Sequence: r.Uint64()}
}
