package clocksync

import (
	"math"
	"time"

	"github.com/failaware/failaware/internal/enum"
	"github.com/failaware/failaware/timed"
)

// Time is a reading of group time, in nanoseconds since the Unix epoch. It is
// not an instant of any hardware clock, and not UTC unless the reading says so.
type Time int64

// Go returns the time as the standard library's type, in UTC.
func (t Time) Go() time.Time { return time.Unix(0, int64(t)).UTC() }

// Sub returns t − u.
func (t Time) Sub(u Time) time.Duration { return time.Duration(t - u) }

// TimelineID names a timeline: its leader, and the number of the lead. Deviations are
// relative to one timeline.
type TimelineID struct {
	Leader   timed.NodeID
	Boot     timed.BootID
	Sequence uint64
}

// None reports whether the id is zero and names no timeline.
func (t TimelineID) None() bool { return t.Leader == timed.NoNode }

// Status says how far a reading may be trusted.
type Status uint8

const (
	// Unsynchronized: the deviation is above the configured bound, or unknown.
	Unsynchronized Status = iota
	// Internal: the deviation from group time is at most the configured bound.
	Internal
	// External: also, the deviation from UTC is at most its configured bound.
	External
)

func (s Status) String() string {
	switch s {
	case Internal:
		return "internal"
	case External:
		return "external"
	}
	return "unsynchronized"
}

// MarshalText returns the text of [Status.String].
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the text of [Status.String].
func (s *Status) UnmarshalText(text []byte) error { return enum.Unmarshal(s, text, External) }

// UnknownBound is the deviation of a reading without evidence.
const UnknownBound time.Duration = math.MaxInt64

// Reading is one reading of the clock, with its bounds.
type Reading struct {
	Time      Time
	Deviation time.Duration // proven bound on |Time − group time|
	UTCBound  time.Duration // proven bound on |Time − UTC|, or UnknownBound
	Status    Status
	Timeline  TimelineID
	Holdover  bool // no evidence from the leader within its promise: bounds grow
	Leap      Leap // announced by the references for the end of the month
}

// Snapshot is everything that a reading depends on except the hardware clock. It is a
// value that may be copied, published, and read by any goroutine.
type Snapshot struct {
	// The displayed clock showed shown at base. It runs at slew until slewEnd and
	// at rest from then on (rates in parts per billion besides one).
	base    timed.Instant
	shown   Time
	slew    int64
	rest    int64
	slewEnd timed.Instant

	// The evidence: group time at seen was within half of middle, and its line runs
	// at rate. The leader's promise ends at until on this clock.
	seen    timed.Instant
	middle  Time
	half    time.Duration
	rate    int64
	bend    timed.Instant // if not 0, the line runs at next from here on
	next    int64
	until   timed.Instant
	own     bool // this node leads the timeline and is its clock
	known   bool
	id      TimelineID
	rho     timed.Drift
	epsilon time.Duration
	utc     utcBound
	maxUTC  time.Duration
}

// Timeline returns the timeline that the snapshot is on.
func (s *Snapshot) Timeline() TimelineID { return s.id }

// Unclaimed returns a snapshot that shows the same times and claims nothing about them. It
// is for the time after the end of the incarnation of s, which no longer hears of other
// leaders, and whose clock may have been found faulty.
func (s *Snapshot) Unclaimed() Snapshot {
	u := *s
	u.known, u.own, u.utc = false, false, utcBound{}
	return u
}

// show returns the displayed time at now.
func (s *Snapshot) show(now timed.Instant) Time {
	if now <= s.slewEnd {
		return s.shown + Time(advance(now.Sub(s.base), s.slew))
	}
	t := s.shown + Time(advance(s.slewEnd.Sub(s.base), s.slew))
	return t + Time(advance(now.Sub(s.slewEnd), s.rest))
}

// middleAt returns the middle of the interval that contains group time.
func (s *Snapshot) middleAt(now timed.Instant) Time {
	if s.bend == 0 || now <= s.bend {
		return s.middle + Time(advance(now.Sub(s.seen), s.rate))
	}
	t := s.middle + Time(advance(s.bend.Sub(s.seen), s.rate))
	return t + Time(advance(now.Sub(s.bend), s.next))
}

// Judge lowers the status to the one that the bounds allow, after the caller has
// widened them.
func (s *Snapshot) Judge(r *Reading) {
	switch {
	case r.Deviation > s.epsilon:
		r.Status = Unsynchronized
	case r.Status == External && r.UTCBound > s.maxUTC:
		r.Status = Internal
	}
}

// Read returns the reading at now. It allocates nothing.
func (s *Snapshot) Read(now timed.Instant) (r Reading) {
	s.ReadInto(now, &r)
	return r
}

// ReadInto writes the reading at now into r. It is faster than Read.
func (s *Snapshot) ReadInto(now timed.Instant, r *Reading) {
	r.Time, r.UTCBound, r.Timeline = s.show(now), UnknownBound, s.id
	r.Status, r.Holdover, r.Leap = Unsynchronized, false, NoLeap
	if !s.known {
		r.Deviation = UnknownBound
		return
	}
	r.Deviation = r.Time.Sub(s.middleAt(now)).Abs() + s.width(now, now.Sub(s.seen))
	r.Holdover = now > s.until
	if r.Deviation <= s.epsilon {
		r.Status = Internal
	}
	if s.utc.state == UTCKnown {
		s.readUTC(now, r)
	}
}
