package session

import (
	"encoding"
	"encoding/binary"

	"github.com/failaware/failaware/internal/fields"
)

// Kinds of results; each encoded result begins with one. No bytes stand for a result that
// is not kept.
const (
	resultNil = iota + 1
	resultFalse
	resultTrue
	resultInt
	resultInt64
	resultUint64
	resultString
	resultBytes
)

// encodeResult returns the encoding of a result, or nil if results of its type are not
// kept, or if it is larger than most bytes. A type with an encoding of its own is kept in
// that encoding.
func encodeResult(result any, most int) []byte {
	number := func(kind byte, n uint64) []byte { return binary.BigEndian.AppendUint64([]byte{kind}, n) }
	if x, ok := result.(encoding.BinaryMarshaler); ok {
		b, err := x.MarshalBinary()
		if err != nil {
			return nil
		}
		result = b
	}
	switch x := result.(type) {
	case nil:
		return []byte{resultNil}
	case bool:
		if x {
			return []byte{resultTrue}
		}
		return []byte{resultFalse}
	case int:
		return number(resultInt, uint64(x))
	case int64:
		return number(resultInt64, uint64(x))
	case uint64:
		return number(resultUint64, x)
	case string:
		if len(x) < most {
			return append([]byte{resultString}, x...)
		}
	case []byte:
		if len(x) < most {
			return append([]byte{resultBytes}, x...)
		}
	}
	return nil
}

// decodeResult returns the result of an encoding. ok is false if it is not kept, or an int that
// this machine has no room for, as one of 32 bits.
func decodeResult(b []byte) (result any, ok bool) {
	r := reader{fields.Reader{Rest: b}}
	switch r.Byte() {
	case resultNil:
		return nil, true
	case resultFalse:
		return false, true
	case resultTrue:
		return true, true
	case resultInt:
		n := int64(r.Uint64())
		return int(n), int64(int(n)) == n
	case resultInt64:
		return int64(r.Uint64()), true
	case resultUint64:
		return r.Uint64(), true
	case resultString:
		return string(r.Rest), true
	case resultBytes:
		return append([]byte{}, r.Rest...), true
	}
	return nil, false
}
