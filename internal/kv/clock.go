package kv

import (
	"time"

	"github.com/failaware/failaware/clocksync"
)

// A command may be ordered long after its reading of the clock, and readings of two timelines may
// differ by any amount. So a lease ends by readings of its own timeline only: however old they are,
// the time there is not less. On another timeline the time of a lease begins anew, but not before
// its last renewal. That takes a [Tick] whose writer had seen the renewal before it read its clock.
//
// In earlier builds, every command moved the clock to its timeline, and let all leases begin there
// by its reading. Logs on disks have been applied like that, and all nodes must make the same of
// them. So a state keeps to these rules until a Tick with Seen comes. Nodes submit one when there is
// a lease, and all members of the view are of builds that know what it says.

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
	// When the clock is on the timeline, the lease ends after end. Without a timeline it waits
	// for a Tick whose Seen is at least end: its time has not begun.
	timeline clocksync.TimelineID
	end      clocksync.Time
	keys     index[string, struct{}]
}

// begin lets a lease last for its time from a reading on.
func (l *lease) begin(at *clocksync.Reading) {
	l.timeline, l.end = at.Timeline, at.Latest()+clocksync.Time(l.ttl)
}

// wait lets a lease last until a Tick has seen so much.
func (l *lease) wait(seen uint64) { l.timeline, l.end = clocksync.TimelineID{}, clocksync.Time(seen) }

// start lets a lease last for its time from a command on. After a reading without a bound, it
// waits.
func (s *State) start(l *lease, c *Command) {
	if Tells(&c.At) {
		l.begin(&c.At)
	} else {
		l.wait(s.sees())
	}
}

// sees returns what Seen will be after the command that is being performed, if it has an effect.
func (s *State) sees() uint64 {
	if !s.told {
		return 0
	}
	return s.seen.clock + 1
}

// Seen returns how far the state is, for [Command.Seen]: it grows with each command that has an
// effect, and with each merger beyond what any of the parts had.
func (s *State) Seen() uint64 {
	if !s.told {
		return 1 // mergers of such states do not let it grow
	}
	return s.seen.clock
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
	s.told = s.told || c.Op == Tick && c.Seen > 0
	moves := c.Op == Tick || !s.told
	switch earliest := c.At.Earliest(); {
	case c.At.Timeline == s.clock.timeline:
		s.clock.now = max(s.clock.now, earliest)
	case moves:
		s.clock, s.stray = orderedClock{c.At.Timeline, earliest}, true
	default:
		return
	}
	if s.leases.n == 0 || !(s.stray && moves) && s.clock.now <= s.soonest {
		return
	}
	s.soonest, s.stray = maxTime, false
	var over []*lease
	for _, l := range s.leases.all() {
		switch {
		case l.timeline != s.clock.timeline:
			if moves {
				s.beginAnew(l, c)
			}
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

// beginAnew lets the time of a lease begin on the timeline of a command, if it is a Tick that
// has surely seen the last renewal. Otherwise the lease waits for one.
func (s *State) beginAnew(l *lease, c *Command) {
	switch {
	case !s.told:
		l.begin(&c.At)
	case !l.timeline.None():
		l.wait(s.sees()) // nobody knows which command has renewed it, but it is an earlier one
	case c.Seen >= uint64(l.end):
		l.begin(&c.At)
	}
}

// note makes sure that advance looks at the leases when this one ends.
func (s *State) note(l *lease) {
	if l.timeline != s.clock.timeline {
		s.stray = true
	} else {
		s.soonest = min(s.soonest, l.end)
	}
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
	s.start(l, c)
	s.leases.set(l.id.String(), l)
	s.note(l)
}

func (s *State) renew(c *Command) Result {
	l, found := s.leases.get(c.Lease.String())
	if !found {
		return s.result(NotFound, "")
	}
	before := *l
	switch s.start(l, c); {
	case l.timeline == before.timeline:
		l.end = max(l.end, before.end) // a renewal that a later one has overtaken shortens nothing
	case s.told:
		l.wait(s.sees())
	}
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

// Due reports whether a Tick with a reading would change a lease, and whether it has to say for
// that what its writer has seen. Where nobody has said that before, and says is set, this is due as
// soon as there is a lease.
func (s *State) Due(at clocksync.Reading, says bool) (due, seen bool) {
	if !Tells(&at) || s.leases.n == 0 {
		return false, false
	}
	now := at.Earliest()
	if at.Timeline == s.clock.timeline {
		now = max(now, s.clock.now)
	}
	seen = says && !s.told
	for _, l := range s.leases.all() {
		due = due || l.timeline != at.Timeline || l.end < now
		seen = seen || s.told && l.timeline.None()
	}
	return due || seen, seen
}
