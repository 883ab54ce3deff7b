package wire

import (
	"math"
	"time"

	"github.com/failaware/failaware/clocksync"
)

// Lengths of the messages' arrays about UTC. A dispute stands alone, and where UTC is unknown, only who
// has proved it is said.
// The fields of all samples stand one after the other.
const (
	utcStateLen = 1
	utcProofLen = 3
	utcMost     = 7
	sampleLen   = 5
	samplesMax  = sampleLen * clocksync.MaxForwarded
)

// maxProofAge is the largest age of a proof of UTC, in seconds.
const maxProofAge = uint64(clocksync.ProofLife / time.Second)

// utcLen returns the length of an announcement of UTC.
func utcLen(version uint8, s clocksync.UTCState) int {
	switch {
	case s == clocksync.UTCDisputed:
		return utcStateLen
	case s == clocksync.UTCUnknown:
		return utcProofLen
	case version < WithProof:
		return utcMost - 2
	}
	return utcMost
}

func (w *writer) utc(version uint8, u *clocksync.UTC) {
	if u.State == clocksync.UTCUnknown && version < WithProof {
		return // that version has no words for it
	}
	w.open(typeUTC, utcLen(version, u.State))
	if !u.Valid() || u.State == clocksync.UTCUnknown && u.Proved == 0 {
		w.fail(ErrRange)
	}
	w.uint(uint64(u.State), 0, uint64(clocksync.UTCDisputed))
	if u.State == clocksync.UTCKnown {
		w.instant(u.At)
		w.int(int64(u.Low), -maxShown, maxShown)
		w.int(int64(u.High), -maxShown, maxShown)
		w.uint(uint64(u.Leap), 0, uint64(clocksync.LeapDelete))
	}
	if u.State != clocksync.UTCDisputed && version >= WithProof {
		w.uint(uint64(u.Proved), 0, clocksync.MaxReferences)
		w.uint(uint64(u.ProofAge/time.Second), 0, maxProofAge)
	}
	w.close()
}

func (r *reader) utc(version uint8, u *clocksync.UTC) {
	n := r.array(utcStateLen, utcMost)
	u.State = clocksync.UTCState(r.uint(0, uint64(clocksync.UTCDisputed)))
	if n != utcLen(version, u.State) {
		r.fail(ErrLength)
	}
	if u.State == clocksync.UTCKnown {
		u.At = r.instant()
		u.Low = clocksync.Time(r.int(-maxShown, maxShown))
		u.High = clocksync.Time(r.int(-maxShown, maxShown))
		u.Leap = clocksync.Leap(r.uint(0, uint64(clocksync.LeapDelete)))
	}
	if u.State != clocksync.UTCDisputed && version >= WithProof {
		u.Proved = uint8(r.uint(0, clocksync.MaxReferences))
		u.ProofAge = time.Duration(r.uint(0, maxProofAge)) * time.Second
	}
	if r.err == nil && (!u.Valid() || u.State == clocksync.UTCUnknown && u.Proved == 0) {
		r.fail(ErrRange)
	}
}

// samples writes the width of each sample's interval instead of its end, because
// the width takes fewer bytes.
func (w *writer) samples(f *clocksync.Forwarded) {
	list := f.Samples()
	w.open(typeSamples, sampleLen*len(list))
	if len(list) == 0 || len(list) != int(f.Count) {
		w.fail(ErrLength)
	}
	for i := range list {
		s := &list[i]
		if !s.Valid() {
			w.fail(ErrRange)
		}
		w.uint(uint64(s.Source), 1, math.MaxUint64)
		w.instant(s.At)
		w.int(int64(s.Low), -maxShown, maxShown)
		w.duration(s.High.Sub(s.Low))
		w.uint(uint64(s.Leap), 0, uint64(clocksync.LeapDelete))
	}
	w.close()
}

func (r *reader) samples(f *clocksync.Forwarded) {
	n := r.array(sampleLen, samplesMax)
	if n%sampleLen != 0 {
		r.fail(ErrLength)
	}
	for range n / sampleLen {
		s := &f.List[f.Count]
		s.Source = clocksync.SourceID(r.uint(1, math.MaxUint64))
		s.At = r.instant()
		s.Low = clocksync.Time(r.int(-maxShown, maxShown))
		s.High = s.Low + clocksync.Time(r.duration())
		s.Leap = clocksync.Leap(r.uint(0, uint64(clocksync.LeapDelete)))
		if r.err == nil && !s.Valid() {
			r.fail(ErrRange)
		}
		if r.err != nil {
			return
		}
		f.Count++
	}
}
