package wire

import (
	"io"
	"math"
	"time"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// reader reads the message of one frame. The first error sticks, and every value
// read after it is zero.
//
// The library's decoder accepts nil as zero and as false, reads a signed code as a
// huge unsigned number and the other way round, and truncates numbers that do not
// fit. So reader checks the code of every value first, and the decoder sees only
// codes that it decodes exactly.
type reader struct {
	b   []byte
	at  int              // offset of the next value in b
	dec *msgpack.Decoder // reads from b, through the three methods below
	err error
}

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	n := copy(p, r.b[r.at:])
	r.at += n
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// ReadByte implements io.ByteScanner. Without it the decoder would wrap the source
// into a buffer of 4 kB.
func (r *reader) ReadByte() (byte, error) {
	if r.at == len(r.b) {
		return 0, io.EOF
	}
	r.at++
	return r.b[r.at-1], nil
}

// UnreadByte implements io.ByteScanner.
func (r *reader) UnreadByte() error {
	if r.at == 0 {
		return ErrTruncated
	}
	r.at--
	return nil
}

func (r *reader) begin(message []byte) {
	if r.dec == nil {
		r.dec = msgpack.NewDecoder(r)
	}
	r.b, r.at, r.err = message, 0, nil
}

// finish returns the first error and forgets the message.
func (r *reader) finish() error {
	if r.at != len(r.b) {
		r.fail(ErrTrailing)
	}
	r.b, r.at = nil, 0
	return r.err
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// left returns how many bytes of the message are unread.
func (r *reader) left() int { return len(r.b) - r.at }

// code returns the code of the next value without reading it. After an error it is
// nil, which no method accepts.
func (r *reader) code() byte {
	if r.err != nil {
		return msgpcode.Nil
	}
	if r.at == len(r.b) {
		r.fail(ErrTruncated)
		return msgpcode.Nil
	}
	return r.b[r.at]
}

// check records the error of a read whose code was right. Only the end of the
// message can cause one.
func (r *reader) check(err error) {
	if err != nil {
		r.fail(ErrTruncated)
	}
}

// within finishes the read of an integer. It returns v if v lies in the range and
// there has been no error, and zero otherwise.
func within[T int64 | uint64](r *reader, v, least, most T, err error) T {
	r.check(err)
	if v < least || v > most {
		r.fail(ErrRange)
	}
	if r.err != nil {
		return 0
	}
	return v
}

func (r *reader) uint(least, most uint64) uint64 {
	if v, ok := r.fastUint(); ok {
		return within(r, v, least, most, nil)
	}
	n, err := r.signed()
	if n < 0 {
		r.fail(ErrRange)
	}
	return within(r, uint64(n), least, most, err)
}

func (r *reader) int(least, most int64) int64 {
	if v, ok := r.fastUint(); ok {
		if v > math.MaxInt64 {
			r.fail(ErrRange)
		}
		return within(r, int64(v), least, most, nil)
	}
	n, err := r.signed()
	return within(r, n, least, most, err)
}

// signed reads an integer that fastUint has not read: one with a sign, or one that
// is truncated.
func (r *reader) signed() (int64, error) {
	switch c := r.code(); {
	case c >= msgpcode.Uint8 && c <= msgpcode.Uint64:
		r.fail(ErrTruncated)
	case c >= msgpcode.NegFixedNumLow, c >= msgpcode.Int8 && c <= msgpcode.Int64:
		return r.dec.DecodeInt64()
	default:
		r.fail(ErrType)
	}
	return 0, nil
}

func (r *reader) bool() bool {
	if c := r.code(); c != msgpcode.False && c != msgpcode.True {
		r.fail(ErrType)
		return false
	}
	r.at++
	return r.b[r.at-1] == msgpcode.True
}

// array reads the length of an array. Every value takes at least one byte, so a
// length above the number of unread bytes is refused before any allocation.
func (r *reader) array(least, most int) int {
	n, ok := r.fastArray()
	if !ok {
		if c := r.code(); c != msgpcode.Array16 && c != msgpcode.Array32 {
			r.fail(ErrType)
			return 0
		}
		var err error
		n, err = r.dec.DecodeArrayLen()
		r.check(err)
	}
	if r.err != nil {
		return 0
	}
	switch {
	case n < least || n > most:
		r.fail(ErrLength)
		return 0
	case n > r.left():
		r.fail(ErrTruncated)
		return 0
	}
	return n
}

func (r *reader) instant() timed.Instant {
	return timed.Instant(r.int(0, int64(datagram.MaxStamp)))
}

func (r *reader) duration() time.Duration {
	return time.Duration(r.int(0, int64(timed.MaxDuration)))
}

func (r *reader) node(least uint64) timed.NodeID {
	return timed.NodeID(r.uint(least, timed.MaxNodes))
}

// incarnation reads an incarnation. Two zeros are the zero Incarnation.
func (r *reader) incarnation() timed.Incarnation {
	i := timed.Incarnation{Node: r.node(0), Boot: timed.BootID(r.uint(0, math.MaxUint64))}
	if i.Node.Valid() != (i.Boot != 0) {
		r.fail(ErrRange)
	}
	return i
}

// sequencedID reads the id of a view or a timeline. Three zeros are the zero id.
func (r *reader) sequencedID() (sequence uint64, i timed.Incarnation) {
	sequence = r.uint(0, membership.MaxSequence)
	i = r.incarnation()
	if i.Node.Valid() != (sequence != 0) {
		r.fail(ErrRange)
	}
	return sequence, i
}

func (r *reader) viewID() membership.ViewID {
	sequence, i := r.sequencedID()
	return membership.ViewID{Sequence: sequence, Leader: i.Node, Boot: i.Boot}
}

// isArray reports whether the next value is an array.
func (r *reader) isArray() bool {
	c := r.code()
	return msgpcode.IsFixedArray(c) || c == msgpcode.Array16 || c == msgpcode.Array32
}

// bytes reads a byte string. The result points into the message.
func (r *reader) bytes() []byte {
	if c := r.code(); !msgpcode.IsBin(c) {
		r.fail(ErrType)
		return nil
	}
	n, err := r.dec.DecodeBytesLen()
	r.check(err)
	if r.err != nil {
		return nil
	}
	if n > r.left() {
		r.fail(ErrTruncated)
		return nil
	}
	b := r.b[r.at : r.at+n : r.at+n]
	r.at += n
	return b
}
