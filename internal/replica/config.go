package replica

import (
	"errors"
	"fmt"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

// Config configures a [Replica]. The zero value of a field means its default.
type Config struct {
	Self timed.Incarnation

	// MaxPayload is the limit of the broadcast, at least LeastPayload. It must be the same at
	// all members.
	MaxPayload int
	// MaxSnapshot is the largest snapshot, in bytes, that is sent or accepted. A node that
	// needs a larger one withdraws.
	MaxSnapshot int
	// NewBytes returns storage for the bytes of one snapshot, or for the operations of a view
	// that wait for one. The default is Memory.
	NewBytes func() Bytes
	// NewPart returns storage for the bytes of a snapshot that comes from others. The default
	// is NewBytes.
	NewPart func() Bytes
	// BlockBytes is the average size of the blocks of a snapshot.
	BlockBytes int
	// ChunkBytes is how many bytes of a snapshot travel in one message. Together
	// with ChunkOverhead they must fit into MaxPayload.
	ChunkBytes int
	// Rate is how many bytes of snapshots this node sends per second.
	Rate int
	// Window is how many bytes of a snapshot may be in flight, unacknowledged by the slowest
	// receiver.
	Window int
	// MaxQueued is how many bytes of deliveries may wait for a snapshot or for a
	// merge, including 64 for each delivery. A joiner that would exceed both it and the
	// bytes of the snapshot starts over with a later one. While all members wait for a
	// merge, or for the reports of a view, Accepting turns false.
	MaxQueued int
	// HashEvery is the number of ordered messages of a view after which members
	// compare hashes of their states; 0 means never. It must be the same at all
	// members.
	HashEvery int
	// Stored says that the caller keeps the state on a disk. It must be the same at all
	// members.
	Stored bool
	// Again says that an earlier process of this node has been in views, so that the group is
	// not new.
	Again bool
	// Began is when the incarnation begins, by the wall clock. It dates a group that begins.
	Began time.Time
	// Quorum, if not nil, is the quorum system of the broadcast's configuration. There
	// is then one line of states, that of the quorums.
	Quorum quorum.System
	// Epoch, if not 0, is the number of the epoch that Quorum rules. It does not change
	// during the incarnation. A state directory must keep the node from returning to an
	// earlier epoch.
	Epoch uint64
}

// Defaults.
const (
	DefaultMaxSnapshot = 1<<31 - 1
	DefaultBlockBytes  = 64 << 10
	DefaultChunkBytes  = 16 << 10
	DefaultRate        = 64 << 20
	DefaultWindow      = 1 << 20
	DefaultMaxQueued   = 64 << 20
)

// Limits of the configuration.
const (
	MostSnapshot  = 1 << 40
	MinChunkBytes = 64
	MaxChunkBytes = 1 << 26
	MinRate       = 1 << 10
	MostRate      = 1 << 40
	MostWindow    = 1 << 30
	MinQueued     = 1 << 10
	MostQueued    = 1 << 40
	MostHashEvery = 1 << 32
)

// LeastPayload is the least MaxPayload. It has room for a report at the beginning of a view
// with one ancestor of the state, one whole and one partial snapshot. A larger payload
// has room for up to 255 snapshots in each list, so that more transfers can continue, and
// for up to 64 ancestors, so that fewer states must be merged.
const LeastPayload = reportBytes + ancestorBytes + 2*copyBytes

// ChunkOverhead is how many bytes a message with a chunk takes besides the chunk.
const ChunkOverhead = 1 + nameBytes + 16 + 8 + 8

// PerDelivery is how many bytes a waiting delivery counts besides its payload.
const PerDelivery = 64

// Payload returns the least MaxPayload with the other options.
func (c *Config) Payload() int {
	if c.Epoch > 0 {
		return max(LeastPayload, epochBytes)
	}
	return LeastPayload
}

// ancestors returns the limit of ancestors in a report. They take a quarter of the room, and
// the snapshots the rest.
func (c *Config) ancestors() int { return min(1+(c.MaxPayload-LeastPayload)/4/ancestorBytes, maxLine) }

// copies returns the limit of snapshots in each list of a report.
func (c *Config) copies() int {
	return min(1+(c.MaxPayload-LeastPayload)/4*3/(2*copyBytes), maxCopies)
}

// disks returns the limit of members whose disks a member tells about.
func (c *Config) disks() int { return (c.MaxPayload - disksBytes) / confirmedBytes }

// WithDefaults returns the configuration with its defaults filled in.
func (c Config) WithDefaults() Config {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	def(&c.MaxPayload, broadcast.DefaultMaxPayload)
	def(&c.MaxSnapshot, DefaultMaxSnapshot)
	def(&c.BlockBytes, DefaultBlockBytes)
	def(&c.ChunkBytes, DefaultChunkBytes)
	def(&c.Rate, DefaultRate)
	def(&c.Window, max(DefaultWindow, c.ChunkBytes))
	def(&c.MaxQueued, DefaultMaxQueued)
	if c.NewBytes == nil {
		c.NewBytes = func() Bytes { return new(Memory) }
	}
	if c.NewPart == nil {
		c.NewPart = c.NewBytes
	}
	return c
}

// Validate returns an error that names every field that is out of range, after defaults
// are filled in.
func (c Config) Validate() error {
	c = c.WithDefaults()
	var errs []error
	in := func(name string, v int, lo, hi int64) {
		if v := int64(v); v < lo || v > hi {
			errs = append(errs, fmt.Errorf("replica: %s: %d is outside [%d, %d]", name, v, lo, hi))
		}
	}
	most := c.MaxPayload - ChunkOverhead
	switch {
	case c.MaxPayload < LeastPayload:
		errs = append(errs, fmt.Errorf("replica: MaxPayload: %d is below %d, which a member takes to say what state it has", c.MaxPayload, LeastPayload))
	case c.ChunkBytes > most:
		errs = append(errs, fmt.Errorf("replica: ChunkBytes: %d is above the %d that a payload of the broadcast takes (MaxPayload %d)",
			c.ChunkBytes, most, c.MaxPayload))
	}
	in("MaxSnapshot", c.MaxSnapshot, 1, MostSnapshot)
	in("ChunkBytes", c.ChunkBytes, MinChunkBytes, MaxChunkBytes)
	in("Rate", c.Rate, MinRate, MostRate)
	in("Window", c.Window, int64(c.ChunkBytes), MostWindow)
	in("MaxQueued", c.MaxQueued, MinQueued, MostQueued)
	in("HashEvery", c.HashEvery, 0, MostHashEvery)
	if c.Epoch > 0 && c.MaxPayload < epochBytes {
		errs = append(errs, fmt.Errorf("replica: MaxPayload: %d is below %d, which a member takes to say in which epoch it is", c.MaxPayload, epochBytes))
	}
	if !c.Self.Valid() {
		errs = append(errs, fmt.Errorf("replica: Self: %v is no incarnation", c.Self))
	}
	return errors.Join(errs...)
}
