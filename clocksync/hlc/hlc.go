// Package hlc implements a hybrid logical clock. Its stamps are close to group time,
// grow with every event of a node, and are larger than all stamps that the node has
// received. It suits applications that need strictly growing stamps even if events
// are too close together for clocks to order them.
package hlc

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/failaware/failaware/clocksync"
)

// Stamp is a hybrid logical time. Stamps are ordered by Time and then by Logical. An
// application that needs a total order compares node ids last.
type Stamp struct {
	Time    clocksync.Time
	Logical uint32
}

// Before reports whether s is less than u.
func (s Stamp) Before(u Stamp) bool {
	return s.Time < u.Time || s.Time == u.Time && s.Logical < u.Logical
}

func (s Stamp) String() string { return fmt.Sprintf("%d.%d", int64(s.Time), s.Logical) }

// next returns the least stamp above s.
func (s Stamp) next() Stamp {
	if s.Logical == math.MaxUint32 {
		return Stamp{Time: s.Time + 1}
	}
	return Stamp{s.Time, s.Logical + 1}
}

// DefaultMaxAhead is the default limit on how far a received stamp may be ahead of the
// clock.
const DefaultMaxAhead = 500 * time.Millisecond

// ErrAhead means that a received stamp is too far ahead of the clock. If a node
// accepted it, all nodes would follow a wrong clock.
var ErrAhead = errors.New("hlc: the stamp is too far ahead of the clock")

// Clock makes stamps; see [New]. It is safe for concurrent use.
type Clock struct {
	read     func() clocksync.Time
	maxAhead time.Duration
	mu       sync.Mutex
	last     Stamp
}

// New returns a clock based on read, which returns group time. A maxAhead of 0 means
// [DefaultMaxAhead].
func New(read func() clocksync.Time, maxAhead time.Duration) *Clock {
	if maxAhead <= 0 {
		maxAhead = DefaultMaxAhead
	}
	return &Clock{read: read, maxAhead: maxAhead}
}

// Now returns the stamp of a new event. It is larger than all stamps that this clock
// has made or received.
func (c *Clock) Now() Stamp {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.advance(c.read())
}

// Hear processes the stamp of a received message and returns a larger one for its
// arrival. ErrAhead leaves the clock unchanged.
func (c *Clock) Hear(s Stamp) (Stamp, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.read()
	if ahead := uint64(s.Time) - uint64(now); s.Time > now && ahead > uint64(c.maxAhead) {
		return Stamp{}, fmt.Errorf("%w: by %v", ErrAhead, time.Duration(min(ahead, math.MaxInt64)))
	}
	if c.last.Before(s) {
		c.last = s
	}
	return c.advance(now), nil
}

func (c *Clock) advance(now clocksync.Time) Stamp {
	if next := (Stamp{Time: now}); c.last.Before(next) {
		c.last = next
	} else {
		c.last = c.last.next()
	}
	return c.last
}
