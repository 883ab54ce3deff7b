// Package hlc is a hybrid logical clock: stamps that are close to group time, grow
// with every event of a node, and are larger than the stamp of everything that a node
// has heard of. It is for applications that need strictly growing stamps, also
// where clocks are too close together to tell an order.
package hlc

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/failaware/failaware/clocksync"
)

// Stamp is a hybrid logical time. Stamps are ordered by Time, then by Logical, and then,
// if that is wanted, by whatever names their nodes.
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

// DefaultMaxAhead is how far ahead of this node's clock a stamp that it hears of may
// be, unless a clock says otherwise.
const DefaultMaxAhead = 500 * time.Millisecond

// ErrAhead says that a stamp is too far in the future: the node that made it has
// another idea of the time, and everybody would follow it.
var ErrAhead = errors.New("hlc: the stamp is too far ahead of the clock")

// Clock makes stamps. It is safe for concurrent use. Make one with [New].
type Clock struct {
	read     func() clocksync.Time
	maxAhead time.Duration
	mu       sync.Mutex
	last     Stamp
}

// New returns a clock above one that reads group time, such as that of a node. A
// maxAhead of 0 means [DefaultMaxAhead].
func New(read func() clocksync.Time, maxAhead time.Duration) *Clock {
	if maxAhead <= 0 {
		maxAhead = DefaultMaxAhead
	}
	return &Clock{read: read, maxAhead: maxAhead}
}

// Now returns the stamp of a new event: larger than every stamp that this clock has
// made or heard of.
func (c *Clock) Now() Stamp {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.advance(c.read())
}

// Hear takes the stamp of a message, and returns that of its arrival, which is
// larger. With ErrAhead nothing has changed.
func (c *Clock) Hear(s Stamp) (Stamp, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.read()
	if s.Time > now && s.Time.Sub(now) > c.maxAhead {
		return Stamp{}, fmt.Errorf("%w: by %v", ErrAhead, s.Time.Sub(now))
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
