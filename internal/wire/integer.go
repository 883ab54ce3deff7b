package wire

import (
	"encoding/binary"

	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// A packet has about fifty values. Nearly all are unsigned integers, booleans and
// short arrays. The library reads and writes each through an interface, byte by
// byte, which takes most of the time of a small packet. So this package reads and
// writes these three kinds itself, in the same bytes as the library. The library
// handles all other values and all errors.

// appendUint appends an integer as the library's EncodeUint does: in as few bytes
// as possible.
func appendUint(b []byte, v uint64) []byte {
	switch {
	case v <= uint64(msgpcode.PosFixedNumHigh):
		return append(b, byte(v))
	case v < 1<<8:
		return append(b, msgpcode.Uint8, byte(v))
	case v < 1<<16:
		return append(b, msgpcode.Uint16, byte(v>>8), byte(v))
	case v < 1<<32:
		return append(b, msgpcode.Uint32, byte(v>>24), byte(v>>16), byte(v>>8), byte(v))
	}
	return binary.BigEndian.AppendUint64(append(b, msgpcode.Uint64), v)
}

// fastUint reads an unsigned integer. It reads nothing if the next value is of
// another type or truncated.
func (r *reader) fastUint() (v uint64, ok bool) {
	if r.err != nil || r.at == len(r.b) {
		return 0, false
	}
	rest := r.b[r.at+1:]
	n := 0
	switch c := r.b[r.at]; c {
	case msgpcode.Uint8:
		if n = 1; len(rest) >= n {
			v = uint64(rest[0])
		}
	case msgpcode.Uint16:
		if n = 2; len(rest) >= n {
			v = uint64(binary.BigEndian.Uint16(rest))
		}
	case msgpcode.Uint32:
		if n = 4; len(rest) >= n {
			v = uint64(binary.BigEndian.Uint32(rest))
		}
	case msgpcode.Uint64:
		if n = 8; len(rest) >= n {
			v = binary.BigEndian.Uint64(rest)
		}
	default:
		if c > msgpcode.PosFixedNumHigh {
			return 0, false
		}
		v = uint64(c)
	}
	if len(rest) < n {
		return 0, false
	}
	r.at += 1 + n
	return v, true
}

// fastArray reads the length of an array of fewer than 16 values. It reads nothing
// if the next value is of another type.
func (r *reader) fastArray() (n int, ok bool) {
	if r.err != nil || r.at == len(r.b) || !msgpcode.IsFixedArray(r.b[r.at]) {
		return 0, false
	}
	n = int(r.b[r.at] & msgpcode.FixedArrayMask)
	r.at++
	return n, true
}
