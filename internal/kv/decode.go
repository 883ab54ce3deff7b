package kv

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/timed"
)

// ErrDamaged is the error of bytes that are no command, or no state.
var ErrDamaged = errors.New("kv: these bytes are not of a store")

// reader reads what a writer has written, and keeps the first error.
type reader struct {
	d   *msgpack.Decoder
	err error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// array reads the length of an array.
func (r *reader) array(least, most int) int {
	if r.err != nil {
		return 0
	}
	n, err := r.d.DecodeArrayLen()
	if err == nil && (n < least || n > most) {
		err = fmt.Errorf("an array of %d values", n)
	}
	if err != nil {
		r.fail(err)
		return 0
	}
	return n
}

func (r *reader) uint(most uint64) uint64 {
	if r.err != nil {
		return 0
	}
	n, err := r.d.DecodeUint64()
	if err == nil && n > most {
		err = fmt.Errorf("the number %d", n)
	}
	r.fail(err)
	return n
}

func (r *reader) int() int64 {
	if r.err != nil {
		return 0
	}
	n, err := r.d.DecodeInt64()
	r.fail(err)
	return n
}

func (r *reader) bool() bool {
	if r.err != nil {
		return false
	}
	b, err := r.d.DecodeBool()
	r.fail(err)
	return b
}

// bytes reads a slice of its own.
func (r *reader) bytes(most int) []byte {
	if r.err != nil {
		return nil
	}
	n, err := r.d.DecodeBytesLen()
	if err == nil && (n < 0 || n > most) {
		err = fmt.Errorf("%d bytes", n)
	}
	if err != nil {
		r.fail(err)
		return nil
	}
	b := make([]byte, n)
	r.fail(r.d.ReadFull(b))
	return b
}

func (r *reader) text(most int) string { return string(r.bytes(most)) }

func (r *reader) dot() Dot {
	return Dot{Writer: r.uint(math.MaxUint64), Number: r.uint(math.MaxUint64 - 1)}
}

func (r *reader) version() Version {
	return Version{Revision: r.uint(math.MaxUint64), Mark: uint32(r.uint(math.MaxUint32))}
}

func (r *reader) reading() (c clocksync.Reading) {
	c.Time = clocksync.Time(r.int())
	c.Deviation, c.UTCBound = r.duration(), r.duration()
	c.Status = clocksync.Status(r.uint(uint64(clocksync.External)))
	c.Timeline = r.timeline()
	return c
}

// duration reads a duration that is not negative.
func (r *reader) duration() time.Duration {
	d := time.Duration(r.int())
	if d < 0 {
		r.fail(fmt.Errorf("the duration %v", d))
	}
	return d
}

func (r *reader) timeline() clocksync.TimelineID {
	return clocksync.TimelineID{Leader: timed.NodeID(r.uint(timed.MaxNodes)), Boot: timed.BootID(r.uint(math.MaxUint64)), Sequence: r.uint(math.MaxUint64)}
}

// end returns the first error.
func (r *reader) end() error {
	if r.err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, r.err)
	}
	return nil
}

// Decode returns the command that bytes stand for. It shares nothing with them. The error
// matches [ErrDamaged], or is that of [Command.Check].
func Decode(b []byte) (c Command, err error) {
	in := bytes.NewReader(b)
	r := reader{d: msgpack.NewDecoder(in)}
	r.array(commandLen, commandLen)
	c.Op = Op(r.uint(math.MaxUint8))
	c.Dot = r.dot()
	c.At = r.reading()
	c.Key = r.text(MaxKeyBytes)
	c.Value = r.bytes(MaxValueBytes)
	c.Match = r.bool()
	c.Version = r.version()
	c.Lease = r.dot()
	c.TTL = r.duration()
	if c.Op == Tick {
		c.Seen, c.Version.Revision = c.Version.Revision, 0
	}
	if err := r.whole(in); err != nil {
		return Command{}, err
	}
	return c, c.Check()
}

// whole returns the first error, which may be that bytes are left.
func (r *reader) whole(in *bytes.Reader) error {
	if r.err == nil && in.Len() > 0 {
		r.fail(fmt.Errorf("%d bytes too many", in.Len()))
	}
	return r.end()
}
