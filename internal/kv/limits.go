package kv

import "time"

// Limits of a state. They are the same at all nodes, since all must agree which command
// is refused. A merger may exceed those of keys and bytes; then nothing can be added
// until enough is deleted.
const (
	// MaxKeyBytes is the limit of a key, in bytes of UTF-8.
	MaxKeyBytes = 512
	// MaxValueBytes is the limit of a value, in bytes.
	MaxValueBytes = 512 << 10
	// MaxKeys is the limit of keys.
	MaxKeys = 100_000
	// MaxBytes is the limit of the bytes of all keys and values together, with
	// EntryBytes more for each key.
	MaxBytes = 64 << 20
	// EntryBytes is what a key counts besides its own bytes and those of its value.
	EntryBytes = 64
	// MaxLeases is the limit of leases.
	MaxLeases = 10_000
	// MinTTL and MaxTTL are the limits of the time that a lease lasts.
	MinTTL, MaxTTL = 500 * time.Millisecond, 30 * 24 * time.Hour
	// MaxHistory and MaxHistoryBytes are the limits of changes that are kept for
	// watchers, and of their keys and values.
	MaxHistory, MaxHistoryBytes = 10_000, 16 << 20
	// MaxTombstones is the limit of deleted keys that a partitionable store remembers,
	// so that a merger does not bring them back.
	MaxTombstones = 10_000
	// MaxConflicts and MaxConflictBytes are the limits of the values that are kept for
	// users because a merger could not tell which write was the last.
	MaxConflicts, MaxConflictBytes = 1000, 16 << 20
	// MaxList and MaxListBytes are the limits of keys in one answer of List, and of the
	// bytes that they count.
	MaxList, MaxListBytes = 1000, 2 << 20

	maxWriters = 4096 // whose dots are known
	maxSpans   = 1024 // of dots of one writer
	maxVoid    = 1024 // dots of commands without an effect
	maxItems   = 1 << 24
	maxLimit   = 16 // bytes of the name of a limit
)

// Names of limits, in [Result.Limit].
const (
	LimitKeys   = "MaxKeys"
	LimitBytes  = "MaxBytes"
	LimitLeases = "MaxLeases"
)
