package clocksync

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// Forward chooses samples of the own references to tell the leader of, with the
// vote that goes to it: what is new, and each again from time to time. It returns
// false if there is nothing to tell.
func (c *Sync) Forward(now timed.Instant, leader timed.Incarnation, f *Forwarded) bool {
	t := c.sources
	if t == nil || c.snap.own {
		return false
	}
	if t.toldTo != leader {
		t.toldTo = leader
		for k := range t.list {
			t.list[k].told = 0
		}
	}
	*f = Forwarded{}
	for range t.list {
		t.next = (t.next + 1) % len(t.list)
		r := &t.list[t.next]
		if r.node != c.cfg.Self.Node || now.Sub(r.newest) > SampleLife ||
			r.told >= forwardTimes && now.Sub(r.toldAt) < forwardEvery {
			continue
		}
		r.told, r.toldAt = min(r.told+1, forwardTimes), now
		f.List[f.Count] = Sample{Source: r.source, At: r.at, Low: r.low, High: r.high, Leap: r.leap}
		if f.Count++; f.Count == MaxForwarded {
			break
		}
	}
	return f.Count > 0
}

// AnnounceUTC writes what the leader announces about UTC, or returns false if
// there is nothing to say.
func (c *Sync) AnnounceUTC(now timed.Instant, u *UTC) bool {
	s := &c.snap.utc
	if !c.snap.own || s.state == UTCUnknown || s.void != 0 && now >= s.void {
		return false
	}
	*u = UTC{State: s.state}
	if s.state == UTCKnown {
		u.At, u.Low, u.High, u.Leap = s.at, s.low, s.high, s.leap
	}
	return true
}

// HandleUTC takes what the leader announces: H_leader − H_self lies in [lo, hi] at
// now.
func (c *Sync) HandleUTC(now timed.Instant, u *UTC, lo, hi time.Duration, out []Effect) []Effect {
	if c.snap.own || lo > hi || !u.Valid() || u.State == UTCUnknown {
		return out
	}
	out = c.expire(now, out)
	if u.State == UTCDisputed {
		if c.sources != nil {
			c.sources.steer.lost()
		}
		return c.setUTC(utcBound{state: UTCDisputed}, out)
	}
	i := interval{u.At, u.Low, u.High}.mapped(now, now.Add(lo), now.Add(hi), c.snap.rho)
	b := utcBound{interval: i, state: UTCKnown, leap: u.Leap}
	b.void = b.voidFrom(u.Leap, c.snap.rho)
	out = c.setUTC(b, out)
	return c.compare(now, out)
}
