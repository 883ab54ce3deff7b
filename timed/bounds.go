package timed

import (
	"errors"
	"fmt"
	"time"
)

// Bounds are the times that a [Timing] guarantees in a Δ-partition: nodes that
// are connected with each other and Δ-disconnected from all others. They are
// durations of real time, and include all waiting times.
type Bounds struct {
	// Ready is how long a started node waits before it votes.
	Ready time.Duration
	// Notice is the longest time until a peer that crashed or was cut off has
	// left the alive set.
	Notice time.Duration
	// Depose is the longest time for which a leader that is cut off from others
	// still leads them.
	Depose time.Duration
	// Elect (κ) is the longest time until the partition has a leader that all
	// of its processes support.
	Elect time.Duration
	// View (κ_M) is the longest time until all of them hold the same
	// up-to-date view, which is the partition.
	View time.Duration
	// Rejoin is what a restarted node adds to both: its waiting time, and the
	// time for its new incarnation to be accepted.
	Rejoin time.Duration
}

// LeastLockTime returns the shortest lock time that is sound with the other
// constants: a lease must outlast two periods, one round, and a late wake-up.
func (t Timing) LeastLockTime() time.Duration {
	need := 2*t.ElectionPeriod + t.RoundTime() + t.SchedulingDelay
	return t.MaxDrift.Cover(need + 1)
}

// AmpleLockTime returns the shortest lock time with which one lost reply costs
// no lease, even if all delays are near δ and all processes near σ late: rounds
// do not overlap, so a lease must outlast a period, which may be as long as the
// answers take, a round that fails, and the answers to the next one.
func (t Timing) AmpleLockTime() time.Duration {
	answers := 2 * (t.OneWayTimeout + t.SchedulingDelay)
	period := max(t.ElectionPeriod, answers) + t.SchedulingDelay
	return t.MaxDrift.Cover(period + t.RoundTime() + 2*t.SchedulingDelay + answers + 1)
}

// LeaseWarning returns why one lost reply may cost a leader its lease when the
// network and the processes are as slow as they may be, or "".
func (t Timing) LeaseWarning() string {
	ample := t.AmpleLockTime()
	if t.LockTime >= ample {
		return ""
	}
	return fmt.Sprintf("with all delays near OneWayTimeout, one lost reply costs a leader its lease, "+
		"because LockTime %v is below %v", t.LockTime, roundUp(ample))
}

// LeastFast returns the shortest sound FastThreshold. A bound counts the delay
// of the helper besides that of the message, and the age of the helper, so two
// timely messages give one of 2δ−δmin and 4ρ for up to a keepalive period; and
// a round must last until the answers are back, late as its processes may be.
func (t Timing) LeastFast() time.Duration {
	age := t.KeepalivePeriod + 2*t.SchedulingDelay + 2*t.OneWayTimeout
	bound := 2*t.OneWayTimeout - t.MinDelay + t.MaxDrift.Slack(age, 4) + t.MaxDrift.Slack(2*t.OneWayTimeout, 4) + 4
	return max(bound, t.OneWayTimeout+t.SchedulingDelay)
}

// LeastExpires returns the shortest sound Expires: a peer must be heard at
// least twice, late as its messages may be.
func (t Timing) LeastExpires() time.Duration {
	return t.MaxDrift.Upper(2*(t.KeepalivePeriod+t.SchedulingDelay)) + 2*t.FastThreshold + 1
}

// Limits of single constants. They keep all sums far from overflow.
const (
	MinDuration = 10 * time.Microsecond
	MaxDuration = time.Hour
)

// Validate checks that the constants are sound together, and returns the
// bounds that they guarantee. The error names every constant that is not, as
// its field.
func (t Timing) Validate() (Bounds, error) {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if t.MaxDrift < 0 || t.MaxDrift > MaxDrift {
		bad("MaxDrift: %d ppb is outside [0, %d]", int64(t.MaxDrift), int64(MaxDrift))
	}
	for _, f := range []struct {
		name string
		d    time.Duration
	}{
		{"OneWayTimeout", t.OneWayTimeout}, {"FastThreshold", t.FastThreshold},
		{"SchedulingDelay", t.SchedulingDelay}, {"ElectionPeriod", t.ElectionPeriod},
		{"KeepalivePeriod", t.KeepalivePeriod}, {"Expires", t.Expires},
		{"LockTime", t.LockTime}, {"MaxLockTime", t.MaxLockTime},
	} {
		if f.d < MinDuration || f.d > MaxDuration {
			bad("%s: %v is outside [%v, %v]", f.name, f.d, MinDuration, MaxDuration)
		}
	}
	if t.MinDelay < 0 || t.MinDelay >= t.OneWayTimeout {
		bad("MinDelay: %v is outside [0, OneWayTimeout = %v)", t.MinDelay, t.OneWayTimeout)
	}
	if len(errs) > 0 {
		return Bounds{}, errors.Join(errs...)
	}
	if least := t.LeastFast(); t.FastThreshold < least {
		bad("FastThreshold: %v is too short: with OneWayTimeout %v, MinDelay %v and SchedulingDelay %v it must be at least %v",
			t.FastThreshold, t.OneWayTimeout, t.MinDelay, t.SchedulingDelay, least)
	}
	if least := t.LeastExpires(); t.Expires < least {
		bad("Expires: %v is too short: with KeepalivePeriod %v, SchedulingDelay %v and FastThreshold %v it must be at least %v",
			t.Expires, t.KeepalivePeriod, t.SchedulingDelay, t.FastThreshold, least)
	}
	if least := t.LeastLockTime(); t.LockTime < least {
		bad("LockTime: %v is too short: with ElectionPeriod %v, FastThreshold %v and SchedulingDelay %v it must be at least %v",
			t.LockTime, t.ElectionPeriod, t.FastThreshold, t.SchedulingDelay, least)
	}
	if t.MaxLockTime < t.LockTime {
		bad("MaxLockTime: %v is below LockTime = %v", t.MaxLockTime, t.LockTime)
	}
	if len(errs) > 0 {
		return Bounds{}, errors.Join(errs...)
	}
	return t.bounds(), nil
}

// bounds computes the guarantees; see docs/model.md for how each sum comes
// about.
func (t Timing) bounds() Bounds {
	r := t.MaxDrift
	up := r.Upper
	hear := up(3*(t.KeepalivePeriod+t.SchedulingDelay)) + 3*t.OneWayTimeout // stamp, echo, heard
	notice := t.FastThreshold + up(t.Expires) + t.SchedulingDelay
	period := up(t.Period()) + t.SchedulingDelay
	reply := 2 * (t.OneWayTimeout + t.SchedulingDelay)
	lock := up(r.Wait(t.MaxLockTime)) + t.SchedulingDelay
	elect := max(notice, hear) + period + lock + period + reply
	view := elect + lock + period + 2*reply
	return Bounds{
		Ready:  up(t.ReadyTime()),
		Notice: notice,
		Depose: up(t.LockTime),
		Elect:  elect,
		View:   view,
		Rejoin: up(t.ReadyTime()) + up(2*t.Expires) + hear,
	}
}

// StrictWarning returns why, in Strict mode, a follower's crash costs the
// leader its lease for a moment, or "" if it does not.
func (t Timing) StrictWarning() string {
	least := t.Expires + t.ElectionPeriod + t.RoundTime() + t.SchedulingDelay
	if t.MaxDrift.Trust(t.LockTime) > least {
		return ""
	}
	return fmt.Sprintf("in strict mode the crash of a follower costs the leader its lease for a moment, "+
		"because LockTime %v is not above %v (Expires + ElectionPeriod + a round + SchedulingDelay)",
		t.LockTime, roundUp(t.MaxDrift.Cover(least+1)))
}

// roundUp makes a duration readable without making it too short.
func roundUp(d time.Duration) time.Duration {
	const grain = 10 * time.Microsecond
	return (d + grain - 1) / grain * grain
}
