// Package life decides when the incarnations of a node begin and end, and why. It
// is pure: the loop reports to it and performs its decisions.
package life

import (
	"time"

	"github.com/failaware/failaware/timed"
)

const (
	maxBackoff = time.Minute // the longest wait between two quick restarts
	longLife   = time.Minute // an incarnation of this length ends a row of quick restarts
)

// Machine is the life of a node in one process: one incarnation after the other.
// Its methods take no other time than the node's hardware clock.
type Machine struct {
	ready time.Duration // from the beginning of an incarnation until it may vote
	// extra is how much longer than ready the votes of an earlier process may bind it;
	// 0 once an incarnation may vote.
	extra time.Duration

	notBefore timed.Instant // no incarnation begins earlier
	waiting   Reason        // why the last incarnation ended, until the next one begins
	rateFault bool          // the clock's rate was beyond ρ when it was last measured
	begun     int           // incarnations
	since     timed.Instant // the beginning of the latest
	quick     int           // quick restarts in a row

	blame     Reason // why the incarnation must end
	leaving   bool
	over      bool // the node ends
	unwritten bool // a write failed: nothing more may be said
}

// New returns the life of a node whose process starts at now. earlier is the
// longest time for which an earlier process of the node may have voted; zero if
// nothing is known of one.
func New(t *timed.Timing, earlier time.Duration, now timed.Instant) Machine {
	m := Machine{ready: t.ReadyTime()}
	// Every incarnation waits for votes of its own MaxLockTime. Longer ones of an
	// earlier process take longer.
	m.extra = max(t.MaxDrift.Wait(earlier)-t.MaxDrift.Wait(t.MaxLockTime), 0)
	m.notBefore = now.Add(m.extra)
	return m
}

// Check compares two successive readings of the clock, each with the era of the
// clock that it was made in. It returns why they end an incarnation, or None.
func Check(before, now timed.Instant, eraBefore, era uint32) Reason {
	switch {
	case era != eraBefore:
		return Suspended
	case now < before:
		return ClockBackwards
	}
	return None
}

// BeginAt returns when the next incarnation may begin, or Never while only an
// event can change that. behind says that the application has not taken enough of
// its deliveries: the backlog would grow with every incarnation.
func (m *Machine) BeginAt(behind bool) timed.Instant {
	if m.rateFault || behind {
		return timed.Never
	}
	return m.notBefore
}

// Begin notes that an incarnation begins.
func (m *Machine) Begin(now timed.Instant) {
	m.waiting, m.since = None, now
	m.begun++
}

// Ready notes that the incarnation may vote: no vote of an earlier process binds the
// node any more.
func (m *Machine) Ready() { m.extra = 0 }

// Restart ends the incarnation, if there is one. The wait for the next one grows
// with each of several quick restarts: a clock that stays wrong must not disturb
// the group again and again. The wait for votes of an earlier process begins anew,
// because the clock that measured it so far is not trusted any more.
func (m *Machine) Restart(now timed.Instant, why Reason) {
	m.blame, m.waiting, m.notBefore = None, why, now.Add(m.extra)
	if now.Sub(m.since) > longLife || why == Suspended || why == NewEpoch {
		m.quick = 0
		return
	}
	if m.quick++; m.quick > 1 {
		wait := min(m.ready<<min(m.quick, 10), maxBackoff)
		m.notBefore = timed.Later(m.notBefore, now.Add(wait))
	}
}

// Blame notes that the incarnation must end at the end of the turn.
func (m *Machine) Blame(why Reason) { m.blame = why }

// Blamed returns why the incarnation must end, or None.
func (m *Machine) Blamed() Reason { return m.blame }

// Rate is what is known of the hardware clock's rate.
type Rate uint8

// The rates.
const (
	RateUnknown Rate = iota // nothing new
	RateWithin              // it was measured, and keeps ρ
	RateBeyond              // it was measured, and does not keep ρ
)

// JudgeRate takes a verdict on the rate of the hardware clock. It reports whether the
// incarnation must end now. A rate that is known to be beyond ρ stays so until it is
// measured again: an end of the kernel's corrections says nothing about it.
func (m *Machine) JudgeRate(r Rate) (restart bool) {
	if r == RateUnknown {
		return false
	}
	restart = r == RateBeyond && !m.rateFault
	m.rateFault = r == RateBeyond
	return restart
}

// Leave notes that the node leaves the group.
func (m *Machine) Leave() { m.leaving = true }

// Leaving reports whether the node leaves the group.
func (m *Machine) Leaving() bool { return m.leaving }

// Fail notes that the node ends. unwritten says that a write failed that had to be on the
// disk before the node says anything else.
func (m *Machine) Fail(unwritten bool) {
	m.over = true
	m.unwritten = m.unwritten || unwritten
}

// End notes that the node ends because nothing binds the others to it any more.
func (m *Machine) End() { m.over = true }

// Over reports whether the node ends.
func (m *Machine) Over() bool { return m.over }

// MaySpeak reports whether effects may still be performed. After a failed write none may,
// because the node would forget what they rest on.
func (m *Machine) MaySpeak() bool { return !m.unwritten }

// Waiting returns why the last incarnation ended, or None once another has begun.
func (m *Machine) Waiting() Reason { return m.waiting }

// Incarnations returns how many incarnations have begun.
func (m *Machine) Incarnations() int { return m.begun }
