package failaware

import (
	"sync/atomic"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/loop"
)

// Clock returns group time with its proven deviation. It takes no lock and does
// not allocate; it is safe for concurrent use.
//
// The clock is slewed, and never runs backwards within a timeline. It steps only
// when a [ClockStepped] event says so, onto another timeline.
func (n *Node) Clock() Reading { return clockFrom(n.loop.Snapshot, n.clock.Read) }

// Now is another name of [Node.Clock].
func (n *Node) Now() Reading { return n.Clock() }

func clockFrom(load func() *loop.Snapshot, read func() hwclock.Reading) Reading {
	for range tries {
		s := load()
		r := read()
		// The reading counts as shown before the snapshot is looked at again: readers of
		// a newer snapshot then know of it.
		t := shownAfter(s.Shown, readingAt(s, r))
		s.Clock.Judge(&t)
		if load() == s {
			return t
		}
	}
	// An older snapshot only means wider bounds, as long as the clock was not found
	// faulty meanwhile; a reading that claims nothing is always right.
	s := load()
	return shownAfter(s.Shown, unknown(s.Clock.Read(read().Now)))
}

func readingAt(s *loop.Snapshot, r hwclock.Reading) Reading {
	t := s.Clock.Read(r.Now)
	if s.Era != r.Era {
		return unknown(t)
	}
	return t
}

// unknown takes all claims from a reading.
func unknown(t Reading) Reading {
	t.Deviation, t.UTCBound = clocksync.UnknownBound, clocksync.UnknownBound
	t.Status, t.Holdover, t.Leap = clocksync.Unsynchronized, true, clocksync.NoLeap
	return t
}

// shownAfter returns r, or the latest reading that any reader of the timeline was
// given if r lies before it; the difference is added to the bounds, so that the
// claims still hold. The loop bends the displayed clock at the instant of its turn, a
// little before readers can see that; so a reader of the older snapshot may be given a
// time that the newer one reaches only a moment later.
func shownAfter(shown *atomic.Int64, r Reading) Reading {
	for {
		latest := shown.Load()
		if int64(r.Time) < latest {
			back := clocksync.Time(latest).Sub(r.Time)
			r.Time = clocksync.Time(latest)
			if r.Deviation != clocksync.UnknownBound {
				r.Deviation += back
			}
			if r.UTCBound != clocksync.UnknownBound {
				r.UTCBound += back
			}
			return r
		}
		if shown.CompareAndSwap(latest, int64(r.Time)) {
			return r
		}
	}
}
