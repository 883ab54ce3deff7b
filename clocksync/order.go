package clocksync

import (
	"errors"
	"time"
)

// ErrTimelineChanged is why two readings cannot be compared: they are of
// different timelines, and not both External.
var ErrTimelineChanged = errors.New("clocksync: the timeline has changed")

// Ordering is how two readings lie to each other.
type Ordering uint8

const (
	// Unordered: either may be the earlier one.
	Unordered Ordering = iota
	// Earlier: the first was surely taken before the second.
	Earlier
	// Later: the first was surely taken after the second.
	Later
)

func (o Ordering) String() string {
	switch o {
	case Earlier:
		return "earlier"
	case Later:
		return "later"
	}
	return "unordered"
}

// Earliest returns the least group time that the instant of the reading can have.
// Where the deviation is unknown it is the least time that there is.
func (r Reading) Earliest() Time { return r.Time.widened(r.Deviation, -1) }

// Latest returns the largest group time that the instant of the reading can have.
func (r Reading) Latest() Time { return r.Time.widened(r.Deviation, 1) }

// widened returns t + sign·d without overflow.
func (t Time) widened(d time.Duration, sign Time) Time {
	const end = Time(UnknownBound)
	if d == UnknownBound || d < 0 {
		return sign * end
	}
	u := t + sign*Time(d)
	if sign > 0 && u < t || sign < 0 && u > t {
		return sign * end
	}
	return u
}

// After reports whether group time t has surely passed at the reading.
func (r Reading) After(t Time) bool { return r.Earliest() > t }

// Before reports whether group time t is surely still to come at the reading.
func (r Reading) Before(t Time) bool { return r.Latest() < t }

// Order says which of two readings, of any two nodes, was taken first. Readings
// of one timeline compare by group time. Those of different timelines compare by
// UTC if both are External; or else the result is Unordered with
// [ErrTimelineChanged], because the two timelines may be apart by any amount.
func Order(a, b Reading) (Ordering, error) {
	x, y := a.Deviation, b.Deviation
	if a.Timeline != b.Timeline || a.Timeline.None() {
		if a.Status != External || b.Status != External {
			return Unordered, ErrTimelineChanged
		}
		x, y = a.UTCBound, b.UTCBound
	}
	switch {
	case a.Time.widened(x, 1) < b.Time.widened(y, -1):
		return Earlier, nil
	case b.Time.widened(y, 1) < a.Time.widened(x, -1):
		return Later, nil
	}
	return Unordered, nil
}
