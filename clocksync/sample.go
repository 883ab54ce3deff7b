package clocksync

import (
	"time"

	"github.com/failaware/failaware/internal/enum"
	"github.com/failaware/failaware/timed"
)

// SourceID names an external reference of time. It is a digest of the reference's kind
// and address, and so the same at every node that asks it. Zero means none.
type SourceID uint64

// Leap says whether UTC is about to repeat or to skip a second. The values are those of
// NTP's leap indicator.
type Leap uint8

const (
	NoLeap     Leap = iota
	LeapInsert      // the last minute of the month has 61 seconds
	LeapDelete      // it has 59
)

func (l Leap) String() string {
	switch l {
	case LeapInsert:
		return "insert"
	case LeapDelete:
		return "delete"
	}
	return "none"
}

// MarshalText returns the text of [Leap.String].
func (l Leap) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads the text of [Leap.String].
func (l *Leap) UnmarshalText(text []byte) error { return enum.Unmarshal(l, text, LeapDelete) }

// Sample is one measurement of a reference: when the local hardware clock showed At, UTC
// was in [Low, High].
type Sample struct {
	Source SourceID
	At     timed.Instant
	Low    Time
	High   Time
	Leap   Leap
}

// MaxError is the largest half width of a sample. A wider sample says too little.
const MaxError = 16 * time.Second

// Valid reports whether all fields of the sample are in range.
func (s *Sample) Valid() bool {
	return s.Source != 0 && s.At >= 0 && s.Low <= s.High && s.Low > -maxTime && s.High < maxTime &&
		s.High.Sub(s.Low) <= 2*MaxError && s.Leap <= LeapDelete
}

// FromExchange returns the sample of a question and its answer. sent and received are
// instants of the local clock, arrived and left are the server's times of the
// question's arrival and of the answer's departure, and distance is the server's own
// largest error. Neither delay may be negative.
func FromExchange(source SourceID, sent, received timed.Instant, arrived, left Time, distance time.Duration, rho timed.Drift) Sample {
	// The delay of the answer is at most the duration of the exchange without the
	// time at the server, whose clock may be slewing.
	held := max(left.Sub(arrived), 0)
	way := rho.Upper(received.Sub(sent)) - (held - held/8)
	return Sample{Source: source, At: received, Low: left - Time(distance), High: left + Time(max(way, 0)+distance)}
}

// interval is an interval that contains UTC at an instant of the local clock.
type interval struct {
	at        timed.Instant
	low, high Time
}

// project returns the interval at another instant of the same clock, which may drift by ρ
// on the way.
func (i interval) project(now timed.Instant, rho timed.Drift) interval {
	return i.mapped(now, now, now, rho)
}

// mapped returns, at the instant now of one clock, an interval that was given for
// another clock, which shows something in [early, late] at now.
func (i interval) mapped(now, early, late timed.Instant, rho timed.Drift) interval {
	return interval{at: now, low: i.low + Time(rho.Lower(early.Sub(i.at))), high: i.high + Time(rho.Upper(late.Sub(i.at)))}
}

func (i interval) half() time.Duration { return i.high.Sub(i.low)/2 + 1 }

func (i interval) middle() Time { return i.low + (i.high-i.low)/2 }

func (i interval) meets(j interval) bool { return i.low <= j.high && j.low <= i.high }

// and returns the intersection of two intervals that meet, both at one instant.
func (i interval) and(j interval) interval {
	return interval{i.at, max(i.low, j.low), min(i.high, j.high)}
}
