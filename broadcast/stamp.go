package broadcast

import (
	"math"
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/timed"
)

// minTime is before every stamp.
const minTime clocksync.Time = math.MinInt64 / 2

// MaxTime bounds the absolute value of stamps on the wire.
const MaxTime clocksync.Time = 1 << 62

// leeway is how far clocks of a view may be apart. Synchronized clocks and late headers
// never come near it.
func (s *Service) leeway() time.Duration { return min(2*s.cfg.Timing.Expires, timed.MaxDuration) }

// believed returns this node's estimate of group time, and its deviation. Group time is
// the clock of the view's leader. A node whose clock is far from it, because it is not
// synchronized yet, takes the last promise of the leader.
func (s *Service) believed(r clocksync.Reading) (clocksync.Time, time.Duration) {
	if s.view == nil || s.frozen() || s.leader == s.me {
		return r.Time, r.Deviation
	}
	led := s.members[s.leader].promise
	if led == minTime || r.Time.Sub(led).Abs() <= s.leeway() {
		return r.Time, r.Deviation
	}
	return led, wider(r.Deviation, r.Time, led)
}

// wider returns the deviation of a time after its replacement by another.
func wider(dev time.Duration, t, by clocksync.Time) time.Duration {
	if dev == clocksync.UnknownBound {
		return dev
	}
	return dev + t.Sub(by).Abs()
}

// stampNow returns the stamp of a message that is broadcast now. In a view, stamps of one
// sender never run back and never fall below its promise. If the clock does, the deviation
// grows by the difference. Another view begins without promises, so that a clock that is
// set back by its leader does not count as ahead until it has caught up.
func (s *Service) stampNow(reading clocksync.Reading) (clocksync.Time, time.Duration) {
	t, dev := s.believed(reading)
	if least := max(s.stamp, s.floor); t < least {
		t, dev = least, wider(dev, t, least)
	}
	s.stamp = t
	return t, dev
}

// promiseNow returns the smallest stamp that an unsent ordered message can have: the next
// one that stampNow can give. While messages wait to be sent, which already have their
// stamps, the earlier promise stays. A node whose clock has been set back promises enough
// for the deferred messages, which would otherwise wait until its clock has caught up.
func (s *Service) promiseNow(reading clocksync.Reading) clocksync.Time {
	if s.sent[ClassOrdered] == s.own[ClassOrdered] {
		t, _ := s.believed(reading)
		if t < s.floor && len(s.deferred.heap) > 0 && s.farthest.Sub(s.floor) <= s.leeway() {
			t = s.farthest + 1
		}
		s.floor = max(s.floor, s.stamp, t)
	}
	return s.floor
}

// notePromise takes the promise in a member's header. If the former promise holds by now,
// it stays usable, because the new one holds only once the messages before it are ordered:
// after a pause, the former may be the only recent one.
func (m *member) notePromise(floor clocksync.Time, tail uint64) {
	if floor > m.promise {
		m.usePromise()
		m.promise, m.promiseTail = floor, tail
	}
}

// usePromise makes the last promise usable once it holds for all messages that are not
// ordered.
func (m *member) usePromise() {
	if m.stream(ClassOrdered).ordered >= m.promiseTail {
		m.usable = max(m.usable, m.promise)
	}
}

// floorOf returns the smallest stamp that the members' messages after the ordered ones can
// have.
func (s *Service) floorOf() clocksync.Time {
	least := MaxTime
	for i := range s.members {
		m := &s.members[i]
		m.usePromise()
		least = min(least, m.usable)
	}
	return least
}

// stampsAhead reports whether a message that waits has a stamp beyond the limit for ordered
// messages. Such a stamp is from another view, in which another clock was group time. The
// message would wait until the slowest clock has caught up, and all messages would wait for
// the place that it takes in the log.
func (s *Service) stampsAhead() bool {
	floor := max(s.ordered, s.floorOf())
	if floor == minTime || s.cut >= s.cursor.next { // the last cut may be enough
		return false
	}
	return len(s.deferred.heap) > 0 && s.farthest > floor+clocksync.Time(s.leeway())
}

// cutStamps makes deferred messages with a stamp after a limit count as stamped then.
func (s *Service) cutStamps(limit clocksync.Time) {
	for i := range s.members {
		m := &s.members[i]
		if m.latest > limit && !m.told && m.waiting > 0 {
			m.told = true
			s.ahead = append(s.ahead, Effect{Kind: Ahead, View: s.view, Peer: m.Node, By: m.latest.Sub(limit)})
		}
		m.latest = min(m.latest, limit)
	}
	s.deferred.cut(limit)
	s.farthest = min(s.farthest, limit)
}
