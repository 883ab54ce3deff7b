package clocksync

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// LeapMargin is the time before and after a leap second in which nothing is known of UTC,
// because servers apply the leap second at different times or spread it.
const LeapMargin = 5 * time.Minute

// leapOf returns the end of the month, which is when leap seconds happen, of one that is
// announced at t. A server may announce it for a while after it.
func leapOf(t Time) Time {
	g := (t - Time(LeapMargin)).Go()
	return Time(time.Date(g.Year(), g.Month()+1, 1, 0, 0, 0, 0, time.UTC).UnixNano())
}

// voidFrom returns the instant, on a clock that may run slow, from which an interval must
// not be used because of an announced leap second.
func (i interval) voidFrom(l Leap, rho timed.Drift) timed.Instant {
	if l == NoLeap {
		return 0
	}
	left := leapOf(i.low).Sub(i.high) - LeapMargin
	return i.at.Add(rho.Lower(max(left, 0)))
}

// overLeap reports whether an interval is near the leap second that its sample announces, or
// behind it. UTC has jumped there since the sample was taken.
func (s *Sample) overLeap(i interval) bool {
	return s.Leap != NoLeap && i.high.Sub(leapOf(s.Low)) > -LeapMargin
}

// over reports whether the leap second that the reference announces has come, so that its
// interval says nothing.
func (r *reference) over(now timed.Instant, rho timed.Drift) bool {
	void := r.voidFrom(r.leap, rho)
	return void != 0 && now >= void
}

// leapCome returns the leap second that a majority announces, if it has come for one of
// them, with the interval of that one, or 0. Where UTC is unknown or disputed, no known interval
// of UTC tells this.
func (t *references) leapCome(now timed.Instant, rho timed.Drift) (Time, interval) {
	for k := range t.list {
		if !t.list[k].over(now, rho) {
			continue
		}
		end, votes := leapOf(t.list[k].low), 0
		for o := range t.list {
			if r := &t.list[o]; r.leap != NoLeap && leapOf(r.low) == end {
				votes++
			}
		}
		if votes >= majority(len(t.list)) {
			return end, t.list[k].interval
		}
	}
	return 0, interval{}
}

// awaitLeap notes that a leap second may be near by an interval of UTC at now, and until when on
// the clock of this node.
func (t *references) awaitLeap(now timed.Instant, at Time, i interval, rho timed.Drift) {
	i = i.project(now, rho)
	t.leapAt, t.leapOver = at, now.Add(rho.Wait(2*LeapMargin+i.high.Sub(i.low)))
}

// nearLeap reports whether an interval is near a leap second that may be near. One that is far
// behind it says nothing about the others: its reference may be a falseticker.
func (t *references) nearLeap(now timed.Instant, i interval) bool {
	if t.leapAt != 0 && now >= t.leapOver {
		t.leapAt = 0
	}
	return t.leapAt != 0 && i.low.Sub(t.leapAt) <= LeapMargin
}

// leap returns the leap second that at least need references announce.
func (t *references) leap(need int) Leap {
	var votes [LeapDelete + 1]int
	for k := range t.list {
		votes[t.list[k].leap]++
	}
	for l := LeapInsert; l <= LeapDelete; l++ {
		if votes[l] >= need {
			return l
		}
	}
	return NoLeap
}
