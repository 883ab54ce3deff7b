package edict

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/failaware/failaware/timed"
)

// The binary form: the version, the epoch and the counter as uvarints, the
// digest, the number of stamps as a uvarint, the stamps, and a CRC-32C of all
// that, big-endian. A stamp is the node, its counter as a uvarint, its boot id in
// eight bytes, big-endian, and its clock as a varint. Numbers are in their
// shortest form and nothing follows, so that an edict has one encoding.

// Version is the first byte of an edict's binary form.
const Version = 1

// Sizes of encodings, in bytes.
const (
	minStamp = 1 + 1 + 8 + 1
	maxStamp = 1 + binary.MaxVarintLen64 + 8 + binary.MaxVarintLen64
	sumSize  = 4
	// MinSize is the size of the smallest edict.
	MinSize = 1 + 1 + 1 + len(Digest{}) + 1 + minStamp + sumSize
	// MaxSize is the size of the largest edict.
	MaxSize = 1 + 2*binary.MaxVarintLen64 + len(Digest{}) + 2 + MaxStamps*maxStamp + sumSize
	// MaxText is the length of the longest text of an edict.
	MaxText = (MaxSize*8 + 5) / 6
)

// ErrMalformed: the bytes, or the text, are no edict.
var ErrMalformed = errors.New("edict: malformed")

func malformed(what string) error { return fmt.Errorf("%w: %s", ErrMalformed, what) }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Append appends the binary form of a valid edict to b. For one that is not
// valid the bytes are refused by [Decode].
func Append(b []byte, e *Edict) []byte {
	from := len(b)
	b = append(b, Version)
	b = binary.AppendUvarint(b, e.Epoch)
	b = binary.AppendUvarint(b, e.Counter)
	b = append(b, e.Digest[:]...)
	b = binary.AppendUvarint(b, uint64(len(e.Stamps)))
	for i := range e.Stamps {
		s := &e.Stamps[i]
		b = append(b, byte(s.Node))
		b = binary.AppendUvarint(b, s.Counter)
		b = binary.BigEndian.AppendUint64(b, uint64(s.Boot))
		b = binary.AppendVarint(b, int64(s.At))
	}
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b[from:], castagnoli))
}

// Decode reads the binary form. The error matches [ErrMalformed]. The edict
// shares nothing with b.
func Decode(b []byte) (Edict, error) {
	switch {
	case len(b) < MinSize:
		return Edict{}, malformed(fmt.Sprintf("%d bytes are fewer than the %d of the smallest edict", len(b), MinSize))
	case len(b) > MaxSize:
		return Edict{}, malformed(fmt.Sprintf("%d bytes are more than the %d of the largest edict", len(b), MaxSize))
	case b[0] != Version:
		return Edict{}, malformed(fmt.Sprintf("version %d is not %d, the only one known", b[0], Version))
	}
	body, sum := b[:len(b)-sumSize], b[len(b)-sumSize:]
	if crc32.Checksum(body, castagnoli) != binary.BigEndian.Uint32(sum) {
		return Edict{}, malformed("its checksum is wrong")
	}
	r := reader{rest: body[1:]}
	e := Edict{Epoch: r.uvarint(), Counter: r.uvarint()}
	copy(e.Digest[:], r.take(len(e.Digest)))
	n := r.uvarint()
	if r.bad || n > MaxStamps || int(n)*minStamp > len(r.rest) {
		return Edict{}, malformed("it is cut short, or a number is not in its shortest form")
	}
	e.Stamps = make([]Stamp, n)
	for i := range e.Stamps {
		s := &e.Stamps[i]
		s.Node = timed.NodeID(r.byte())
		s.Counter = r.uvarint()
		s.Boot = timed.BootID(r.uint64())
		s.At = timed.Instant(r.varint())
	}
	if r.bad || len(r.rest) > 0 {
		return Edict{}, malformed("a number is not in its shortest form, or its length is wrong")
	}
	if err := e.Validate(); err != nil {
		return Edict{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return e, nil
}

// reader takes numbers from bytes. After the first that is not there, or not in
// its shortest form, it is bad.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) take(n int) []byte {
	if r.bad || len(r.rest) < n {
		r.bad = true
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) uint64() uint64 {
	if b := r.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 || n > 1 && r.rest[n-1] == 0 {
		r.bad = true
		return 0
	}
	r.take(n)
	return v
}

func (r *reader) varint() int64 {
	v := r.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// text is base64url without padding: fit for headers, flags and URLs. Since the
// first byte is the version, it never begins with a hyphen.
var text = base64.RawURLEncoding.Strict()

// String returns the text form of the edict: its binary form in base64url
// without padding.
func (e *Edict) String() string { return text.EncodeToString(Append(nil, e)) }

// Parse reads the text form. The error matches [ErrMalformed].
func Parse(s string) (Edict, error) {
	if len(s) > MaxText {
		return Edict{}, malformed(fmt.Sprintf("%d characters are more than the %d of the largest edict", len(s), MaxText))
	}
	for i := range len(s) {
		if s[i] == '\n' || s[i] == '\r' { // which the decoder would skip
			return Edict{}, malformed("it has a line break")
		}
	}
	b, err := text.DecodeString(s)
	if err != nil {
		return Edict{}, malformed("it is not base64url without padding")
	}
	return Decode(b)
}

// MarshalText returns the text form.
func (e *Edict) MarshalText() ([]byte, error) {
	if err := e.Validate(); err != nil {
		return nil, err
	}
	return []byte(e.String()), nil
}

// UnmarshalText reads the text form.
func (e *Edict) UnmarshalText(b []byte) (err error) {
	*e, err = Parse(string(b))
	return err
}
