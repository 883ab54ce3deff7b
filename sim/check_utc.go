package sim

import (
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/timed"
)

// checkUTC checks what a reading claims of UTC: always what the status means, and
// that the bound holds the truth where too few servers lie to deceive anybody.
func (c *checker) checkUTC(n *Node, r *clocksync.Reading) {
	if r.Status == clocksync.External {
		c.sometimes(UTCExternal)
		if r.UTCBound > clocksync.DefaultMaxUTCError || r.Deviation > clocksync.DefaultMaxDeviation {
			c.fail("external", n, "is External with ±%v of UTC and ±%v of group time", r.UTCBound, r.Deviation)
			return
		}
	}
	if r.UTCBound == clocksync.UnknownBound || !c.w.external.honest {
		return
	}
	if off := r.Time.Sub(utc(c.w.now)); off.Abs() > r.UTCBound+granularity {
		c.fail("utc", n, "is off UTC by %v and claims %v", off, r.UTCBound)
	}
}

// checkLine follows the line of a leader: it may bend, but not before what was
// promised of it is over.
func (c *checker) checkLine(n *Node, now timed.Instant) {
	promised := c.w.external.promised
	c.w.external.promised = 0
	line, ok := n.st.Line()
	t := c.lines[line.Timeline]
	if !ok || t == nil {
		return
	}
	if line != t.line {
		for _, h := range []timed.Instant{now, t.promised, timed.Earlier(t.promised, line.Bend)} {
			if h < now {
				continue // that is past, and what was shown then stays as it was
			}
			if off := line.At(h).Sub(t.line.At(h)); off.Abs() > granularity {
				c.fail("promise", n, "changes its line by %v, %v before what it promised is over", off, t.promised.Sub(h))
				return
			}
		}
		if line.Bend > now {
			c.sometimes(LineBent)
		}
		t.line = line
	}
	t.promised = max(t.promised, promised)
}

// utcEvent takes an event about external time.
func (c *checker) utcEvent(n *Node, e *stack.Event) {
	if c.heardUTC != nil {
		c.heardUTC(e)
	}
	switch e.Kind {
	case stack.EventUTCChanged:
		if e.UTC == clocksync.UTCDisputed {
			c.sometimes(UTCDisputed)
			if c.w.external.honest {
				c.fail("disputed", n, "finds no majority although most servers tell the truth")
			}
		}
	case stack.EventFalseticker:
		c.sometimes(ServerNamed)
		if s := &c.w.external.List[e.Source-1]; c.w.external.honest && !s.Falseticker() {
			c.fail("falseticker", n, "says that server %d is off by %v, which tells the truth", e.Source, time.Duration(e.Step))
		}
	}
}
