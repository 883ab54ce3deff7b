package kv

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/failaware/failaware/clocksync"
)

// Kind is the kind of a store.
type Kind uint8

const (
	// Linearizable: there is one state, in the part of the group that has a quorum.
	Linearizable Kind = iota
	// Partitionable: each part of a split group goes on, and states merge.
	Partitionable
)

// Kinds are the names of the kinds.
var Kinds = []string{"linearizable", "partitionable"}

func (k Kind) String() string { return Kinds[k] }

// Version names one write of a key. Versions of one key grow with each write. Mark tells
// writes of different parts of a split group apart, and is 0 in a linearizable store.
type Version struct {
	Revision uint64
	Mark     uint32
}

// None reports whether the version is that of a key that does not exist.
func (v Version) None() bool { return v.Revision == 0 }

func (v Version) String() string {
	if v.Mark == 0 {
		return strconv.FormatUint(v.Revision, 10)
	}
	return fmt.Sprintf("%d.%08x", v.Revision, v.Mark)
}

// ParseVersion parses a version; 0 is that of a key that does not exist.
func ParseVersion(s string) (v Version, err error) {
	v.Revision, v.Mark, err = parseRevision(s, ".")
	if err != nil || v.String() != s {
		return Version{}, fmt.Errorf("%.40q is not a version such as 17 or 17.00f1a2b3", s)
	}
	return v, nil
}

// parseRevision parses a revision and, if a separator follows it, the hexadecimal number
// behind that.
func parseRevision(s, separator string) (revision uint64, more uint32, err error) {
	number, rest, found := strings.Cut(s, separator)
	revision, err = strconv.ParseUint(number, 10, 64)
	if err != nil || !found {
		return revision, 0, err
	}
	m, err := strconv.ParseUint(rest, 16, 32)
	return revision, uint32(m), err
}

// mark returns the mark of a dot, which is never 0.
func mark(d Dot) uint32 { return uint32(mix(d.Writer, d.Number)>>32) | 1 }

// mix returns a number that depends on both of two numbers, and on their order.
func mix(a, b uint64) uint64 {
	x := a ^ (b+0x9e3779b97f4a7c15)*0xbf58476d1ce4e5b9
	x = (x ^ x>>30) * 0x94d049bb133111eb
	x = (x ^ x>>27) * 0xbf58476d1ce4e5b9
	return x ^ x>>31
}

// Entry is what one write has made of a key. It never changes.
type Entry struct {
	Key     string
	Value   []byte // must not be changed
	Version Version
	Created uint64 // the revision since which the key has existed without a break
	Dot     Dot    // of the write
	// At is the reading of the writer's clock at the write.
	At clocksync.Reading
	// Lease is the lease that the key ends with, if it is not the zero dot.
	Lease Dot
	// Deleted says that the write was a deletion.
	Deleted bool

	sum uint64 // its hash, for the caller of the state alone; 0 before it is known
}

func (e *Entry) bytes() int { return len(e.Key) + len(e.Value) + EntryBytes }

// ErrKey is why a key is refused.
var ErrKey = errors.New("a key is UTF-8 text without control characters, of 1 to " + strconv.Itoa(MaxKeyBytes) + " bytes")

// CheckKey returns [ErrKey] unless a key may be used.
func CheckKey(key string) error {
	if key == "" || len(key) > MaxKeyBytes || !utf8.ValidString(key) || strings.ContainsFunc(key, unicode.IsControl) {
		return ErrKey
	}
	return nil
}
