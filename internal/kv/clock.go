package kv

import (
	"time"

	"github.com/failaware/failaware/clocksync"
)

// orderedClock is group time as the commands tell it, in their order. It is a lower bound:
// at the last command of its timeline, group time was at least now.
type orderedClock struct {
	timeline clocksync.TimelineID
	now      clocksync.Time
}

// lease ends its keys when its time is over.
type lease struct {
	id  Dot
	ttl time.Duration
	// On the timeline of the clock, the lease ends when the clock is after end. On any other
	// timeline its time begins anew with the next command that tells the time there: two
	// timelines may differ by any amount.
	timeline clocksync.TimelineID
	end      clocksync.Time
	keys     index[string, struct{}]
}

// begin lets a lease last for its time from a reading on. After a reading without a bound,
// the time begins with the next one that has a bound.
func (l *lease) begin(at *clocksync.Reading) {
	if Tells(at) {
		l.timeline, l.end = at.Timeline, at.Latest()+clocksync.Time(l.ttl)
	} else {
		l.timeline, l.end = clocksync.TimelineID{}, 0
	}
}

// renew is begin for a lease whose time has begun. A renewal that a later one has overtaken
// has the earlier reading of the two, and must not shorten the lease.
func (l *lease) renew(at *clocksync.Reading) {
	before := *l
	if l.begin(at); l.timeline == before.timeline {
		l.end = max(l.end, before.end)
	}
}

// Tells reports whether a reading says what time it is, so that a lease can begin.
func Tells(at *clocksync.Reading) bool {
	return !at.Timeline.None() && at.Deviation < clocksync.UnknownBound && at.Time > -maxTime && at.Time < maxTime && at.Deviation < time.Duration(maxTime)
}

// maxTime bounds group time, so that sums do not overflow.
const maxTime clocksync.Time = 1 << 61

// advance lets the time pass that a command tells. Leases whose time is surely over end.
func (s *State) advance(c *Command) {
	if !Tells(&c.At) {
		return
	}
	if earliest := c.At.Earliest(); c.At.Timeline != s.clock.timeline {
		s.clock, s.stray = orderedClock{c.At.Timeline, earliest}, true
	} else {
		s.clock.now = max(s.clock.now, earliest)
	}
	if s.leases.n == 0 || !s.stray && s.clock.now <= s.soonest {
		return
	}
	s.soonest, s.stray = maxTime, false
	var over []*lease
	for _, l := range s.leases.all() {
		switch {
		case l.timeline != s.clock.timeline:
			l.begin(&c.At)
		case l.end < s.clock.now:
			over = append(over, l)
			continue
		}
		s.note(l)
	}
	for _, l := range over {
		s.end(l, c, true)
	}
}

// note makes sure that advance looks at the leases when this one ends.
func (s *State) note(l *lease) {
	s.stray = s.stray || l.timeline != s.clock.timeline
	s.soonest = min(s.soonest, l.end)
}

// end ends a lease and its keys, by a command.
func (s *State) end(l *lease, c *Command, expired bool) {
	var keys []string
	for key := range l.keys.all() {
		keys = append(keys, key)
	}
	if len(keys) > 0 {
		s.step(c.Dot)
	}
	for _, key := range keys {
		if expired {
			s.expire(key, c)
		} else {
			s.deleteKey(key, c.Dot, c.At)
		}
	}
	s.leases.remove(l.id.String())
}

// expire removes a key whose lease has ended, in this revision. Nothing remembers that: in
// another part the lease may have been renewed, and then the key stays when both meet.
func (s *State) expire(key string, c *Command) {
	s.unlink(key)
	s.counts.Expired++
	e := &Entry{Key: key, Version: s.version(c.Dot), Dot: c.Dot, At: c.At, Deleted: true}
	s.history.add(Change{Entry: e, Revision: s.revision, Expired: true, chain: s.chain})
}

func (s *State) grant(c *Command) Result {
	if s.leases.n >= MaxLeases {
		r := s.result(Full, "")
		r.Limit = LimitLeases
		return r
	}
	s.addLease(c)
	r := s.result(Done, "")
	r.Lease = c.Dot
	return r
}

// loneLease reports whether an entry, which may be nil, has a lease that its own write has
// made and no other key has.
func (s *State) loneLease(e *Entry) bool {
	if e == nil || e.Lease != e.Dot {
		return false
	}
	l, found := s.leases.get(e.Lease.String())
	return found && l.keys.n == 1
}

// addLease adds a lease with the name of a command.
func (s *State) addLease(c *Command) {
	l := &lease{id: c.Dot, ttl: c.TTL}
	l.begin(&c.At)
	s.leases.set(l.id.String(), l)
	s.note(l)
}

func (s *State) renew(c *Command) Result {
	l, found := s.leases.get(c.Lease.String())
	if !found {
		return s.result(NotFound, "")
	}
	l.renew(&c.At)
	s.note(l)
	return s.result(Done, "")
}

func (s *State) revoke(c *Command) Result {
	l, found := s.leases.get(c.Lease.String())
	if !found {
		return s.result(NotFound, "")
	}
	s.end(l, c, false)
	return s.result(Done, "")
}

// Due reports whether a command with a reading would end a lease, or let one begin its
// time.
func (s *State) Due(at clocksync.Reading) bool {
	if !Tells(&at) {
		return false
	}
	now := at.Earliest()
	if at.Timeline == s.clock.timeline {
		now = max(now, s.clock.now)
	}
	for _, l := range s.leases.all() {
		if l.timeline != at.Timeline || l.end < now {
			return true
		}
	}
	return false
}
