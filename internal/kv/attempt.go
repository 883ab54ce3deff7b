package kv

import (
	"bytes"
	"hash/crc64"
	"math"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/failaware/failaware/clocksync"
)

// resultLen is the number of values of a result.
const resultLen = 2 + versionLen + 1 + dotLen

// MarshalBinary returns the bytes of a result, which a session keeps for further attempts.
func (r Result) MarshalBinary() ([]byte, error) {
	var b bytes.Buffer
	w := writer{e: msgpack.NewEncoder(&b)}
	w.array(resultLen)
	w.uint(uint64(r.Status))
	w.uint(r.Revision)
	w.version(r.Version)
	w.text(r.Limit)
	w.dot(r.Lease)
	return b.Bytes(), w.err
}

// UnmarshalBinary reads what MarshalBinary has written. The error matches [ErrDamaged].
func (r *Result) UnmarshalBinary(b []byte) error {
	in := bytes.NewReader(b)
	from := reader{d: msgpack.NewDecoder(in)}
	from.array(resultLen, resultLen)
	*r = Result{Status: Status(from.uint(uint64(Invalid))), Revision: from.uint(math.MaxUint64), Version: from.version(),
		Limit: from.text(maxLimit), Lease: from.dot()}
	return from.whole(in)
}

var polynomial = crc64.MakeTable(crc64.ECMA)

// Recognize returns a number that is the same for all attempts of a command in a session:
// they differ in their names and times only.
func Recognize(command []byte) uint64 {
	c, err := Decode(command)
	if err != nil {
		return crc64.Checksum(command, polynomial) // it changes no state
	}
	c.Dot, c.At = Dot{}, clocksync.Reading{}
	return crc64.Checksum(c.Encode(), polynomial)
}
