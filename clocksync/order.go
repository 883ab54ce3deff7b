package clocksync

import (
	"errors"
	"time"

	"github.com/failaware/failaware/internal/enum"
)

// ErrTimelineChanged says that two readings of different timelines compare only if both are
// External.
var ErrTimelineChanged = errors.New("clocksync: the timeline has changed")

// Ordering is the order of two readings.
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

// MarshalText returns the text of [Ordering.String].
func (o Ordering) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads the text of [Ordering.String].
func (o *Ordering) UnmarshalText(text []byte) error { return enum.Unmarshal(o, text, Later) }

// Earliest returns the least group time that the instant of the reading can have. With an
// unknown deviation it is the least time of all.
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

// Before reports whether group time t is surely in the future at the reading.
func (r Reading) Before(t Time) bool { return r.Latest() < t }

// Order reports which of two readings, of any two nodes, was taken first. Readings of one
// timeline compare by group time. Readings of different timelines compare by UTC if both
// are External. Otherwise the result is Unordered with [ErrTimelineChanged], because the
// two timelines may differ by any amount.
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
