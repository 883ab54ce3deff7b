package kv

import (
	"bytes"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/failaware/failaware/clocksync"
)

// writer writes msgpack, and keeps the first error.
type writer struct {
	e   *msgpack.Encoder
	err error
}

func (w *writer) keep(err error) {
	if w.err == nil {
		w.err = err
	}
}

func (w *writer) array(n int)       { w.keep(w.e.EncodeArrayLen(n)) }
func (w *writer) uint(n uint64)     { w.keep(w.e.EncodeUint(n)) }
func (w *writer) int(n int64)       { w.keep(w.e.EncodeInt(n)) }
func (w *writer) bool(b bool)       { w.keep(w.e.EncodeBool(b)) }
func (w *writer) text(s string)     { w.keep(w.e.EncodeString(s)) }
func (w *writer) dot(d Dot)         { w.uint(d.Writer); w.uint(d.Number) }
func (w *writer) version(v Version) { w.uint(v.Revision); w.uint(uint64(v.Mark)) }

// bytes writes a slice. A nil slice is an empty one.
func (w *writer) bytes(b []byte) {
	if b == nil {
		b = []byte{}
	}
	w.keep(w.e.EncodeBytes(b))
}

// readingLen is the number of values of a reading, and so on.
const (
	readingLen = 7
	dotLen     = 2
	versionLen = 2
	commandLen = 1 + dotLen + readingLen + 2 + 1 + versionLen + dotLen + 1
)

func (w *writer) reading(r *clocksync.Reading) {
	w.int(int64(r.Time))
	w.int(int64(r.Deviation))
	w.int(int64(r.UTCBound))
	w.uint(uint64(r.Status))
	w.timeline(r.Timeline)
}

func (w *writer) timeline(t clocksync.TimelineID) {
	w.uint(uint64(t.Leader))
	w.uint(uint64(t.Boot))
	w.uint(t.Sequence)
}

// Encode returns the bytes of a command.
func (c *Command) Encode() []byte {
	var b bytes.Buffer
	b.Grow(128 + len(c.Key) + len(c.Value))
	w := writer{e: msgpack.NewEncoder(&b)}
	w.array(commandLen)
	w.uint(uint64(c.Op))
	w.dot(c.Dot)
	w.reading(&c.At)
	w.text(c.Key)
	w.bytes(c.Value)
	w.bool(c.Match)
	version := c.Version
	if c.Op == Tick {
		version.Revision = c.Seen
	}
	w.version(version)
	w.dot(c.Lease)
	w.int(int64(c.TTL))
	return b.Bytes() // a buffer never fails
}
