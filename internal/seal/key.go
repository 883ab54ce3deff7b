package seal

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// KeySize is the size of a key in bytes.
const KeySize = 32

// Key is a key of a group. Its texts for logs show its id only: see [Key.Text].
type Key struct{ secret [KeySize]byte }

// KeyID names a key. It is derived from the key and tells nothing about it. No key has
// the id 0.
type KeyID uint32

// The names of the values that are derived from a key. Other names give other values.
const (
	packetInfo = "failaware packets, XAES-256-GCM, version 1"
	sharedInfo = "failaware shared frames, XAES-256-GCM, version 1"
	idInfo     = "failaware key id, version 1"
)

// mark begins the text of a key, so that people and scanners know one when they see it.
const mark = "failaware-key-1:"

// NewKey returns a random key.
func NewKey() Key {
	var k Key
	_, _ = rand.Read(k.secret[:]) // it never fails
	return k
}

// derive returns n bytes derived from the key.
func (k *Key) derive(info string, n int) []byte {
	b, err := hkdf.Key(sha256.New, k.secret[:], nil, info, n)
	if err != nil {
		panic(err) // only for n above 8160
	}
	return b
}

// ID returns the key's id.
func (k *Key) ID() KeyID {
	return max(1, KeyID(binary.BigEndian.Uint32(k.derive(idInfo, 4))))
}

// String returns the key's id. It does not show the key.
func (k Key) String() string { return "key " + k.ID().String() }

// GoString is String, so that %#v shows no key either.
func (k Key) GoString() string { return k.String() }

// Text returns the key as it stands in a key file.
func (k *Key) Text() string { return mark + base64.RawURLEncoding.EncodeToString(k.secret[:]) }

// parseKey returns the key of a text. Its errors do not show the text.
func parseKey(s string) (Key, error) {
	var k Key
	text, ok := strings.CutPrefix(s, mark)
	if !ok {
		return k, fmt.Errorf("a key begins with %q", mark)
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	switch {
	case err != nil:
		return k, errors.New("the key is not base64 (of URLs, without padding)")
	case len(b) != KeySize:
		return k, fmt.Errorf("the key has %d bytes, and keys have %d", len(b), KeySize)
	}
	copy(k.secret[:], b)
	return k, nil
}

// String returns the id in hexadecimal, with 8 digits.
func (id KeyID) String() string { return fmt.Sprintf("%08x", uint32(id)) }

// MarshalText returns the text of [KeyID.String].
func (id KeyID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads the text of [KeyID.String].
func (id *KeyID) UnmarshalText(text []byte) error {
	if string(text) == KeyID(0).String() { // no key
		*id = 0
		return nil
	}
	x, err := ParseKeyID(string(text))
	if err == nil {
		*id = x
	}
	return err
}

// ParseKeyID returns the id of a text as [KeyID.String] returns it.
func ParseKeyID(s string) (KeyID, error) {
	n, err := strconv.ParseUint(s, 16, 32)
	if err != nil || len(s) != 8 || n == 0 {
		return 0, fmt.Errorf("%q is not the id of a key, which has 8 hexadecimal digits", s)
	}
	return KeyID(n), nil
}
