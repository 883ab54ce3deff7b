package clocksync

import (
	"time"

	"github.com/failaware/failaware/internal/enum"
	"github.com/failaware/failaware/timed"
)

// UTCState is the knowledge of UTC.
type UTCState uint8

const (
	// UTCUnknown: there are no references, or too few.
	UTCUnknown UTCState = iota
	// UTCKnown: a majority of the references agree.
	UTCKnown
	// UTCDisputed: no time lies in a majority of their intervals.
	UTCDisputed
)

func (s UTCState) String() string {
	switch s {
	case UTCKnown:
		return "known"
	case UTCDisputed:
		return "disputed"
	}
	return "unknown"
}

// MarshalText returns the text of [UTCState.String].
func (s UTCState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the text of [UTCState.String].
func (s *UTCState) UnmarshalText(text []byte) error { return enum.Unmarshal(s, text, UTCDisputed) }

// UTC is announced by a leader together with its line, and told to a leader that does not know who
// has proved UTC. In state UTCKnown, UTC was in [Low, High] when the sender's hardware clock showed
// At.
type UTC struct {
	State UTCState
	At    timed.Instant
	Low   Time
	High  Time
	Leap  Leap
	// Proved is how many references have proved UTC last, and ProofAge how long ago, in whole
	// seconds. A leader that comes next goes on with them. Proved is 0 when that is not
	// known, or was too long ago, and in a dispute. In state UTCUnknown there is nothing else.
	Proved   uint8
	ProofAge time.Duration
}

// Valid reports whether all fields of the announcement are in range.
func (u *UTC) Valid() bool {
	switch u.State {
	case UTCUnknown:
		return *u == (UTC{Proved: u.Proved, ProofAge: u.ProofAge}) && u.validProof()
	case UTCDisputed:
		return *u == (UTC{State: UTCDisputed})
	}
	return u.State == UTCKnown && u.At >= 0 && u.Low <= u.High && u.Low > -maxTime && u.High < maxTime &&
		u.Leap <= LeapDelete && u.validProof()
}

func (u *UTC) validProof() bool {
	return u.Proved <= MaxReferences && u.ProofAge >= 0 && u.ProofAge <= ProofLife && u.ProofAge%time.Second == 0 &&
		(u.Proved > 0 || u.ProofAge == 0)
}

// says reports whether there is anything in it.
func (u *UTC) says() bool { return u.State != UTCUnknown || u.Proved > 0 }

// utcBound is the knowledge of UTC in readings: an interval, until it is void.
type utcBound struct {
	interval
	state UTCState
	leap  Leap
	void  timed.Instant // from here on nothing is known; 0: never
}

// readUTC adds the known bound on UTC to a reading at now.
func (s *Snapshot) readUTC(now timed.Instant, r *Reading) {
	u := &s.utc
	if u.void != 0 && now >= u.void {
		return
	}
	i := u.project(now, s.rho)
	r.UTCBound = max(r.Time.Sub(i.low), i.high.Sub(r.Time)) + rounding
	r.Leap = u.leap
	if r.Status == Internal && r.UTCBound <= s.maxUTC {
		r.Status = External
	}
}
