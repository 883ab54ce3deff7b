package timed

import (
	"errors"
	"fmt"
	"time"
)

// Bounds are the times that a [Timing] guarantees in a Δ-partition: a set of
// nodes connected to each other and Δ-disconnected from all others. They are
// durations of real time and include all waiting times.
type Bounds struct {
	// Ready is the time that a started node waits before it votes.
	Ready time.Duration
	// Notice is the longest time until a peer that crashed or was cut off has
	// left the alive set.
	Notice time.Duration
	// Depose is the longest time that a leader cut off from its followers
	// continues to lead.
	Depose time.Duration
	// Elect (κ) is the longest time until the partition has a leader that all
	// of its processes support.
	Elect time.Duration
	// View (κ_M) is the longest time until all of them hold the partition as
	// their up-to-date view.
	View time.Duration
	// Rejoin is the time that a restarted node adds to Elect and View: its
	// waiting time, and the time until peers accept its new incarnation.
	Rejoin time.Duration
}

// LeastLockTime returns the shortest sound LockTime. A lease must outlast two
// periods, one round, and a late wake-up.
func (t Timing) LeastLockTime() time.Duration {
	need := 2*t.ElectionPeriod + t.RoundTime() + t.SchedulingDelay
	return t.MaxDrift.cover(need + 1)
}

// ampleLockTime returns the shortest LockTime with which one lost reply costs
// no lease, even if all delays are near δ and all processes are nearly σ late.
// Rounds do not overlap. A lease must therefore outlast a period, which may
// take as long as the replies, then a failed round, and the replies to the
// next one.
func (t Timing) ampleLockTime() time.Duration {
	replies := 2 * (t.OneWayTimeout + t.SchedulingDelay)
	period := max(t.ElectionPeriod, replies) + t.SchedulingDelay
	return t.MaxDrift.cover(period + t.RoundTime() + 2*t.SchedulingDelay + replies + 1)
}

// LeaseWarning explains why one lost reply may cost a leader its lease when the
// network and the processes are at their slowest. It returns "" if LockTime is
// ample.
func (t Timing) LeaseWarning() string {
	ample := t.ampleLockTime()
	if t.LockTime >= ample {
		return ""
	}
	return fmt.Sprintf("with all delays near OneWayTimeout, one lost reply costs a leader its lease, "+
		"because LockTime %v is below %v", t.LockTime, roundUp(ample))
}

// LeastFast returns the shortest sound FastThreshold. A delay bound covers the
// delay of the message and of its helper, plus drift over the helper's age. Two
// timely messages therefore give a bound of 2δ−δmin plus 4ρ of up to a
// keepalive period. A round must also outlast the replies of late processes.
func (t Timing) LeastFast() time.Duration {
	age := t.KeepalivePeriod + 2*t.SchedulingDelay + 2*t.OneWayTimeout
	bound := 2*t.OneWayTimeout - t.MinDelay + t.MaxDrift.Slack(age, 4) + t.MaxDrift.Slack(2*t.OneWayTimeout, 4) + 4
	return max(bound, t.OneWayTimeout+t.SchedulingDelay)
}

// LeastExpires returns the shortest sound Expires: even late keepalives of a
// peer must arrive at least twice in this time.
func (t Timing) LeastExpires() time.Duration {
	return t.MaxDrift.Upper(2*(t.KeepalivePeriod+t.SchedulingDelay)) + 2*t.FastThreshold + 1
}

// MinDuration and MaxDuration limit every constant but MinDelay. They keep all
// sums far from overflow.
const (
	MinDuration = 10 * time.Microsecond
	MaxDuration = time.Hour
)

// Validate checks that the constants are sound together and returns the bounds
// that they guarantee. The error has a line for each unsound constant, which
// starts with its field name.
func (t Timing) Validate() (Bounds, error) {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if err := t.MaxDrift.Validate(); err != nil {
		bad("MaxDrift: %w", err)
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
	if len(errs) > 0 { // the sums below could overflow
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

// bounds computes the guarantees; docs/internals/model.md derives each sum.
func (t Timing) bounds() Bounds {
	up := t.MaxDrift.Upper
	hear := up(3*(t.KeepalivePeriod+t.SchedulingDelay)) + 3*t.OneWayTimeout // stamp, echo, heard
	notice := t.FastThreshold + up(t.Expires) + t.SchedulingDelay
	period := up(t.Period()) + t.SchedulingDelay
	reply := 2 * (t.OneWayTimeout + t.SchedulingDelay)
	lock := up(t.ReadyTime()) + t.SchedulingDelay
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

// StrictWarning explains why, in Strict mode, the crash of a follower briefly
// costs the leader its lease. It returns "" if LockTime is long enough.
func (t Timing) StrictWarning() string {
	least := t.Expires + t.ElectionPeriod + t.RoundTime() + t.SchedulingDelay
	if t.MaxDrift.Trust(t.LockTime) > least {
		return ""
	}
	return fmt.Sprintf("in strict mode the crash of a follower briefly costs the leader its lease, "+
		"because LockTime %v is not above %v (Expires + ElectionPeriod + a round + SchedulingDelay)",
		t.LockTime, roundUp(t.MaxDrift.cover(least+1)))
}

// roundUp rounds d up to a readable multiple of 10 µs.
func roundUp(d time.Duration) time.Duration {
	const grain = 10 * time.Microsecond
	return (d + grain - 1) / grain * grain
}
