package broadcast

import (
	"math"
	"time"

	"github.com/failaware/failaware/clocksync"
)

// minTime is before every stamp.
const minTime clocksync.Time = math.MinInt64 / 2

// MaxTime bounds the absolute value of stamps on the wire.
const MaxTime clocksync.Time = 1 << 62

// stampNow returns the stamp of a message that is broadcast now. Stamps of one sender never
// run back and never fall below its promise. If the clock does, the deviation grows by the
// difference.
func (s *Service) stampNow(reading clocksync.Reading) (clocksync.Time, time.Duration) {
	t, dev := reading.Time, reading.Deviation
	if least := max(s.stamp, s.floor); t < least {
		if dev != clocksync.UnknownBound {
			dev += least.Sub(t)
		}
		t = least
	}
	s.stamp = t
	return t, dev
}

// promiseNow returns the smallest stamp that an unsent ordered message can have: the stamp
// of the first waiting message, or else the next one that stampNow can give.
func (s *Service) promiseNow(reading clocksync.Reading) clocksync.Time {
	next := s.sent[ClassOrdered] + 1
	if next <= s.own[ClassOrdered] {
		// The message already has its stamp, which bounds the promise.
		return min(s.streamsOf(s.cfg.Self.Node)[ClassOrdered].at(next).stamp, max(s.floor, s.stamp))
	}
	s.floor = max(s.floor, s.stamp, reading.Time)
	return s.floor
}

// notePromise takes the promise in a member's header.
func (m *member) notePromise(floor clocksync.Time, tail uint64) {
	if floor > m.promise {
		m.promise, m.promiseTail = floor, tail
	}
}

// floorOf returns the smallest stamp that the members' messages after the ordered ones can
// have.
func (s *Service) floorOf() clocksync.Time {
	least := MaxTime
	for i := range s.members {
		m := &s.members[i]
		if m.stream(ClassOrdered).ordered >= m.promiseTail {
			m.usable = max(m.usable, m.promise)
		}
		least = min(least, m.usable)
	}
	return least
}
