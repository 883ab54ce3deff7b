package fault

import (
	"fmt"
	"time"
)

// LeapSecond is a leap second of UTC in a world with time servers.
type LeapSecond struct {
	// At is when it is over. Servers announce it until then.
	At   time.Duration `json:"at"`
	Kind Leap          `json:"kind"`
}

// Leap is what a server announces. The values are those of NTP's leap indicator.
type Leap uint8

const (
	NoLeap Leap = iota
	LeapInsert
	LeapDelete
)

// maxLag is how late a server may take a leap second.
const maxLag = 5 * time.Minute

// leapDay is what UTC shows at the end of a leap second.
var leapDay = time.Date(2026, time.July, 1, 0, 0, 0, 0, time.UTC).UnixNano()

// UTC returns UTC at a true time, both in nanoseconds, in a world that began at start. It is
// the true time itself in a world without a leap second.
func (s *Servers) UTC(start, t int64) int64 { return s.counted(start, t, 0) }

// Counts returns the UTC of a server that has no error but its lag.
func (s *Servers) Counts(server int, start, t int64) int64 {
	return s.counted(start, t, s.List[server].Lag)
}

func (s *Servers) counted(start, t int64, lag time.Duration) int64 {
	if s == nil || s.Leap == nil {
		return t
	}
	since := time.Duration(t-start) - s.Leap.At
	switch {
	case since >= lag:
	case s.Leap.Kind == LeapInsert:
		since += time.Second // the inserted one, which UTC repeats
	default:
		since -= time.Second
	}
	return leapDay + int64(since)
}

// Announced returns what a server announces at a true time since the start of the run.
func (s *Servers) Announced(server int, at time.Duration) Leap {
	if s.Leap == nil || at >= s.Leap.At+s.List[server].Lag {
		return NoLeap
	}
	return s.List[server].Announces
}

func (s *Servers) validateLeap() error {
	if l := s.Leap; l != nil && (l.Kind != LeapInsert && l.Kind != LeapDelete || l.At < 0 || l.At > MaxDuration) {
		return fmt.Errorf("fault: servers: Leap: kind %d at %v: must be 1 or 2, from 0 to %v", l.Kind, l.At, MaxDuration)
	}
	for i := range s.List {
		if lag := s.List[i].Lag; lag < 0 || lag > maxLag {
			return fmt.Errorf("fault: server %d: field Lag: %v is outside [0, %v]", i+1, lag, maxLag)
		}
		if a := s.List[i].Announces; a > LeapDelete || a != NoLeap && s.Leap == nil {
			return fmt.Errorf("fault: server %d: field Announces: %d: there is no such leap second", i+1, a)
		}
	}
	return nil
}
