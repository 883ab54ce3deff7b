package check

import (
	"math"
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/sim/situation"
	"github.com/failaware/failaware/timed"
)

// honestFrom returns the time from which falsetickers deceive nobody, of a world that starts at
// a time.
func honestFrom(s *fault.Servers, start int64) int64 {
	switch {
	case s != nil && s.Outnumbered():
		return start
	case s != nil && s.Settled > 0:
		return start + int64(s.Settled)
	}
	return math.MaxInt64
}

// checkUTC checks the claims of a reading about UTC: always the status, and the bound if the
// falsetickers are too few to deceive the group.
func (c *Checker) checkUTC(n *Process, r *clocksync.Reading) {
	if r.Status == clocksync.External {
		c.Sometimes(situation.UTCExternal)
		if r.UTCBound > clocksync.DefaultMaxUTCError || r.Deviation > clocksync.DefaultMaxDeviation {
			c.Fail("external", n, "is External with ±%v of UTC and ±%v of group time", r.UTCBound, r.Deviation)
			return
		}
	}
	if r.UTCBound == clocksync.UnknownBound || c.Now < c.honest {
		return
	}
	if off := r.Time.Sub(clocksync.Time(c.Servers.UTC(c.Start, c.Now))); off.Abs() > r.UTCBound+time.Duration(c.grain) {
		c.Fail("utc", n, "is off UTC by %v and claims %v", off, r.UTCBound)
	}
}

// NotePromise records the time until which a node promises its line in the present turn.
func (c *Checker) NotePromise(until timed.Instant) { c.promised = max(c.promised, until) }

// checkLine follows the line of a leader, which may bend only after its promise ends.
func (c *Checker) checkLine(n *Process, now timed.Instant) {
	promised := c.promised
	c.promised = 0
	line, ok := n.Stack.Line()
	t := c.lines[line.Timeline]
	if !ok || t == nil {
		return
	}
	if line != t.line {
		for _, h := range []timed.Instant{now, t.promised, timed.Earlier(t.promised, line.Bend)} {
			if h < now {
				continue // past readings stay as they were
			}
			if off := line.At(h).Sub(t.line.At(h)); off.Abs() > time.Duration(c.grain) {
				c.Fail("promise", n, "changes its line by %v, %v before its promise is over", off, t.promised.Sub(h))
				return
			}
		}
		if line.Bend > now {
			c.Sometimes(situation.LineBent)
		}
		t.line = line
	}
	t.promised = max(t.promised, promised)
}

// utcEvent checks an event about external time.
func (c *Checker) utcEvent(n *Process, e *stack.Event) {
	if c.HeardUTC != nil {
		c.HeardUTC(e)
	}
	switch e.Kind {
	case stack.EventUTCChanged:
		if e.UTC == clocksync.UTCDisputed {
			c.Sometimes(situation.UTCDisputed)
			if c.Now >= c.honest {
				c.Fail("disputed", n, "finds no majority although most servers tell the truth")
			}
		}
	case stack.EventFalseticker:
		c.Sometimes(situation.ServerNamed)
		if c.Now >= c.honest && !c.Servers.Falseticker(int(e.Source-1)) {
			c.Fail("falseticker", n, "says that server %d is off by %v, which tells the truth", e.Source, time.Duration(e.Step))
		}
	}
}
