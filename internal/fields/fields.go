// Package fields reads the fields of binary encodings: fixed numbers in big endian order, and
// varying ones in their shortest form.
package fields

import "encoding/binary"

// Reader reads fields one after the other. After the first one that is missing or not in its
// shortest form all others are missing too, and a missing field is zero. So a decoder looks at
// Bad once, behind its last field and inside loops.
type Reader struct {
	Rest []byte // what has not been read yet
	Bad  bool   // a field was missing
}

// Take returns the next n bytes, which point into Rest, or nil.
func (r *Reader) Take(n int) []byte {
	if r.Bad || n < 0 || len(r.Rest) < n {
		r.Bad = true
		return nil
	}
	b := r.Rest[:n]
	r.Rest = r.Rest[n:]
	return b
}

// All returns all that has not been read yet, and leaves nothing.
func (r *Reader) All() []byte {
	b := r.Rest
	r.Rest = nil
	return b
}

// End reports whether all fields were there, and nothing follows them.
func (r *Reader) End() bool { return !r.Bad && len(r.Rest) == 0 }

// Byte reads a byte.
func (r *Reader) Byte() byte {
	if b := r.Take(1); b != nil {
		return b[0]
	}
	return 0
}

// Flag reads a byte that is 0 or 1.
func (r *Reader) Flag() bool {
	b := r.Byte()
	r.Bad = r.Bad || b > 1
	return b == 1
}

// Uint16 reads two bytes.
func (r *Reader) Uint16() uint16 {
	if b := r.Take(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

// Uint32 reads four bytes.
func (r *Reader) Uint32() uint32 {
	if b := r.Take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

// Uint64 reads eight bytes.
func (r *Reader) Uint64() uint64 {
	if b := r.Take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// Uvarint reads what [binary.AppendUvarint] has appended. Any other form of the number counts
// as missing, so that a value has one encoding.
func (r *Reader) Uvarint() uint64 {
	v, n := binary.Uvarint(r.Rest)
	if n <= 0 || n > 1 && r.Rest[n-1] == 0 {
		n = -1
	}
	if r.Take(n) == nil {
		return 0
	}
	return v
}

// Varint reads what [binary.AppendVarint] has appended, in the same way.
func (r *Reader) Varint() int64 {
	v := r.Uvarint()
	return int64(v>>1) ^ -int64(v&1)
}
