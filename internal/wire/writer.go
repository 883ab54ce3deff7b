package wire

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// writer writes frames. It applies the same checks to values as reader. The first
// error sticks.
type writer struct {
	b    []byte
	enc  *msgpack.Encoder // writes to b and therefore cannot fail
	kind byte             // type of the current frame
	head int              // offset of the current frame in b
	err  error
}

// Write appends p; it never fails.
func (w *writer) Write(p []byte) (int, error) {
	w.b = append(w.b, p...)
	return len(p), nil
}

// WriteByte appends c; it never fails.
func (w *writer) WriteByte(c byte) error {
	w.b = append(w.b, c)
	return nil
}

func (w *writer) begin(b []byte) {
	if w.enc == nil {
		w.enc = msgpack.NewEncoder(w)
	}
	w.b, w.kind, w.err = b, 0, nil
}

// finish returns the bytes and forgets them.
func (w *writer) finish() []byte {
	b := w.b
	w.b = nil
	return b
}

func (w *writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// open starts a frame whose message is an array of n values.
func (w *writer) open(kind byte, n int) {
	if w.err != nil {
		return
	}
	w.kind, w.head = kind, len(w.b)
	w.b = append(w.b, kind, 0, 0)
	w.array(n)
}

// close ends the frame.
func (w *writer) close() {
	n := len(w.b) - w.head - frameHead
	if n > maxMessage {
		w.fail(ErrRange)
	}
	if w.err == nil {
		binary.BigEndian.PutUint16(w.b[w.head+1:], uint16(n))
	}
}

func (w *writer) array(n int) {
	if n >= 0 && n <= int(msgpcode.FixedArrayMask) {
		w.b = append(w.b, msgpcode.FixedArrayLow|byte(n))
		return
	}
	_ = w.enc.EncodeArrayLen(n)
}

func (w *writer) bool(v bool) {
	c := msgpcode.False
	if v {
		c = msgpcode.True
	}
	w.b = append(w.b, c)
}

func (w *writer) uint(v, least, most uint64) {
	if v < least || v > most {
		w.fail(ErrRange)
	}
	w.b = appendUint(w.b, v)
}

func (w *writer) int(v, least, most int64) {
	if v < least || v > most {
		w.fail(ErrRange)
	}
	if v >= 0 {
		w.b = appendUint(w.b, uint64(v))
		return
	}
	_ = w.enc.EncodeInt(v)
}

func (w *writer) instant(t timed.Instant) { w.int(int64(t), 0, int64(datagram.MaxStamp)) }

func (w *writer) duration(d time.Duration) { w.int(int64(d), 0, int64(timed.MaxDuration)) }

// incarnation writes an incarnation. The zero Incarnation is two zeros.
func (w *writer) incarnation(i timed.Incarnation) {
	if i.Node.Valid() != (i.Boot != 0) {
		w.fail(ErrRange)
	}
	w.uint(uint64(i.Node), 0, timed.MaxNodes)
	w.uint(uint64(i.Boot), 0, math.MaxUint64)
}

// sequencedID writes the id of a view or a timeline. The zero id is three zeros.
func (w *writer) sequencedID(sequence uint64, i timed.Incarnation) {
	if i.Node.Valid() != (sequence != 0) {
		w.fail(ErrRange)
	}
	w.uint(sequence, 0, membership.MaxSequence)
	w.incarnation(i)
}

func (w *writer) viewID(v membership.ViewID) {
	w.sequencedID(v.Sequence, timed.Incarnation{Node: v.Leader, Boot: v.Boot})
}

func (w *writer) bytes(b []byte) {
	_ = w.enc.EncodeBytesLen(len(b))
	w.b = append(w.b, b...)
}
