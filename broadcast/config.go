package broadcast

import (
	"errors"
	"fmt"
	"time"

	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

// Config configures a [Service]. The zero value of a field means its default. Window,
// MaxMessages, MaxPayload and Quorum must be the same at all nodes: a node that
// takes less than others send would hold them up.
type Config struct {
	Self   timed.Incarnation
	Timing timed.Timing

	// Window is the limit of bytes of messages in a view that are not known to be at
	// all members. Members share it equally, and each class has half of a share when
	// both are under load. A message that is larger than that is accepted when nothing
	// else of its class is under way.
	Window int
	// MaxMessages is the limit of such messages, or fragments, of one sender in each
	// class.
	MaxMessages int
	// MaxPayload is the largest payload, in bytes.
	MaxPayload int
	// PacketBytes is the limit of bytes of messages in one packet. Larger payloads
	// travel in fragments.
	PacketBytes int
	// Backlog is how many bytes of deliveries may wait for the application before
	// this node stops its acknowledgements.
	Backlog int
	// SlowAfter is how long that may last before an event reports it. After twice as
	// long the node leaves.
	SlowAfter time.Duration
	// Quorum, if not nil, restricts the order: messages are ordered only in views that
	// hold a quorum.
	Quorum quorum.System
}

// Defaults of [Config]: sizes in bytes, and messages.
const (
	DefaultWindow      = 4 << 20
	DefaultMaxMessages = 1 << 14
	DefaultMaxPayload  = 1 << 20
	DefaultPacketBytes = 950
	DefaultBacklog     = 16 << 20
	DefaultSlowAfter   = time.Second
)

// Limits of [Config]: sizes in bytes, and messages.
const (
	MinWindow      = 1 << 12
	MaxWindow      = 1 << 30
	MostMessages   = 1 << 20
	LargestPayload = 1 << 26
	MinPacketBytes = 256
	MaxPacketBytes = 60_000
)

// perMessage is how many bytes a message counts in the window beside its payload.
const perMessage = 64

// WithDefaults returns the configuration with its defaults filled in.
func (c Config) WithDefaults() Config {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	def(&c.Window, DefaultWindow)
	def(&c.MaxMessages, DefaultMaxMessages)
	def(&c.MaxPayload, DefaultMaxPayload)
	def(&c.PacketBytes, DefaultPacketBytes)
	def(&c.Backlog, DefaultBacklog)
	if c.SlowAfter == 0 {
		c.SlowAfter = DefaultSlowAfter
	}
	return c
}

// Validate returns an error that names every field that is out of range, after defaults
// are filled in.
func (c Config) Validate() error {
	c = c.WithDefaults()
	var errs []error
	in := func(name string, v, lo, hi int) {
		if v < lo || v > hi {
			errs = append(errs, fmt.Errorf("broadcast: %s: %d is outside [%d, %d]", name, v, lo, hi))
		}
	}
	in("Window", c.Window, MinWindow, MaxWindow)
	in("MaxMessages", c.MaxMessages, 1, MostMessages)
	in("MaxPayload", c.MaxPayload, 1, LargestPayload)
	in("PacketBytes", c.PacketBytes, MinPacketBytes, MaxPacketBytes)
	in("Backlog", c.Backlog, 1, MaxWindow)
	if frags := c.fragments(c.MaxPayload); frags > c.MaxMessages {
		errs = append(errs, fmt.Errorf("broadcast: MaxMessages: %d is below the %d fragments of %d bytes that a payload of MaxPayload bytes takes",
			c.MaxMessages, frags, c.PacketBytes))
	}
	if c.SlowAfter < timed.MinDuration || c.SlowAfter > timed.MaxDuration {
		errs = append(errs, fmt.Errorf("broadcast: SlowAfter: %v is outside [%v, %v]", c.SlowAfter, timed.MinDuration, timed.MaxDuration))
	}
	return errors.Join(errs...)
}

// fragments returns the number of fragments of a payload of n bytes.
func (c *Config) fragments(n int) int { return max(1, (n+c.PacketBytes-1)/c.PacketBytes) }
