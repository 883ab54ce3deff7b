package broadcast

import (
	"errors"
	"fmt"
	"time"

	"github.com/failaware/failaware/timed"
)

// Config is what a [Service] needs to know. The zero value of a field means its
// default. Window, MaxMessages, MaxPayload and RequireQuorum must be the same at
// all nodes: one that can take less than others send holds them up.
type Config struct {
	Self   timed.Incarnation
	Timing timed.Timing

	// Window is how many bytes of messages a view holds at most that are not
	// known to be at all members. It is shared equally by the members; a larger
	// single message is taken when the sender has nothing else under way.
	Window int
	// MaxMessages is how many such messages, or fragments, a sender has at most
	// in each class.
	MaxMessages int
	// MaxPayload is the largest payload, in bytes.
	MaxPayload int
	// PacketBytes is how many bytes of messages one packet carries at most.
	// Larger payloads travel in fragments.
	PacketBytes int
	// Backlog is how many bytes of deliveries may wait for the application
	// before this node stops its acknowledgements.
	Backlog int
	// SlowAfter is how long that may last before an event says so; after twice
	// as long the node leaves.
	SlowAfter time.Duration
	// RequireQuorum, if not empty, is the configured group: messages are ordered
	// only in views with more than half of it.
	RequireQuorum timed.Set
}

// Defaults.
const (
	DefaultWindow      = 4 << 20
	DefaultMaxMessages = 1 << 14
	DefaultMaxPayload  = 1 << 20
	DefaultPacketBytes = 950
	DefaultBacklog     = 16 << 20
	DefaultSlowAfter   = time.Second
)

// Limits of the configuration.
const (
	MinWindow      = 1 << 12
	MaxWindow      = 1 << 30
	MostMessages   = 1 << 20
	LargestPayload = 1 << 26
	MinPacketBytes = 256
	MaxPacketBytes = 60_000
)

// perMessage is what a message costs in the window besides its payload.
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

// Validate reports every field that is out of its range, by name. It looks at
// the configuration with its defaults.
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

// fragments returns how many sequence numbers a payload of n bytes takes.
func (c *Config) fragments(n int) int { return max(1, (n+c.PacketBytes-1)/c.PacketBytes) }
