package edict

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"

	"github.com/failaware/failaware/internal/fields"
	"github.com/failaware/failaware/timed"
)

// The binary form is the version, the epoch and the counter as uvarints, the
// digest, the number of stamps as a uvarint, the stamps, and a big-endian
// CRC-32C of all preceding bytes. A stamp is the node, its counter as a uvarint,
// its boot id as eight big-endian bytes, and its clock as a varint. Varints have
// their shortest form and no bytes follow, so an edict has exactly one encoding.

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

// ErrMalformed means that bytes or text do not encode an edict.
var ErrMalformed = errors.New("edict: malformed")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Append appends the binary form of e to b. [Decode] refuses the bytes if e is
// not valid.
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

// Decode reads the binary form. The edict does not alias b. Errors match
// [ErrMalformed].
func Decode(b []byte) (Edict, error) {
	switch {
	case len(b) < MinSize:
		return Edict{}, malformed("%d bytes, fewer than %d", len(b), MinSize)
	case len(b) > MaxSize:
		return Edict{}, malformed("%d bytes, more than %d", len(b), MaxSize)
	case b[0] != Version:
		return Edict{}, malformed("unknown version %d", b[0])
	}
	body, sum := b[:len(b)-sumSize], b[len(b)-sumSize:]
	if crc32.Checksum(body, castagnoli) != binary.BigEndian.Uint32(sum) {
		return Edict{}, malformed("wrong checksum")
	}
	r := fields.Reader{Rest: body[1:]}
	e := Edict{Epoch: r.Uvarint(), Counter: r.Uvarint()}
	copy(e.Digest[:], r.Take(len(e.Digest)))
	n := r.Uvarint()
	if n > uint64(len(r.Rest)/minStamp) {
		return Edict{}, malformed("truncated, or a number is not in its shortest form")
	}
	e.Stamps = make([]Stamp, n)
	for i := range e.Stamps {
		s := &e.Stamps[i]
		s.Node = timed.NodeID(r.Byte())
		s.Counter = r.Uvarint()
		s.Boot = timed.BootID(r.Uint64())
		s.At = timed.Instant(r.Varint())
	}
	if !r.End() {
		return Edict{}, malformed("wrong length, or a number is not in its shortest form")
	}
	if err := e.Validate(); err != nil {
		return Edict{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return e, nil
}

// text is base64url without padding, which is safe in headers, flags and URLs.
// The text of an edict never begins with a hyphen, because its first byte is the
// version.
var text = base64.RawURLEncoding.Strict()

// String returns the text form: the binary form in base64url without padding.
func (e Edict) String() string { return text.EncodeToString(Append(nil, &e)) }

// Parse reads the text form. Errors match [ErrMalformed].
func Parse(s string) (Edict, error) {
	if len(s) > MaxText {
		return Edict{}, malformed("%d characters, more than %d", len(s), MaxText)
	}
	if strings.ContainsAny(s, "\r\n") { // the decoder would skip them
		return Edict{}, malformed("contains a line break")
	}
	b, err := text.DecodeString(s)
	if err != nil {
		return Edict{}, malformed("not base64url without padding")
	}
	return Decode(b)
}

// MarshalText returns the text form.
func (e Edict) MarshalText() ([]byte, error) {
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
