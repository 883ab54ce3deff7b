package timed

import (
	"fmt"
	"time"
)

// Timing holds the constants of the timed asynchronous model for one group.
// MaxDrift and FastThreshold must be the same at every node; nodes exchange
// them and refuse peers with other values. Durations are of the local hardware
// clock unless noted otherwise.
type Timing struct {
	// MaxDrift is ρ: every hardware clock keeps |dt/dH − 1| ≤ ρ.
	MaxDrift Drift
	// OneWayTimeout is δ: a delivery within δ of real time is timely.
	OneWayTimeout time.Duration
	// FastThreshold is Δ: a message whose computed delay bound is at most Δ is
	// fast. The bound includes the helper's delay, so Δ must exceed 2δ − δmin.
	FastThreshold time.Duration
	// MinDelay is δmin, a lower bound of every remote delay. 0 is always safe.
	MinDelay time.Duration
	// SchedulingDelay is σ: a timely process acts within σ of a trigger.
	SchedulingDelay time.Duration
	// ElectionPeriod is EP: a candidate or leader requests votes at least this often.
	ElectionPeriod time.Duration
	// KeepalivePeriod is KP: every node is heard by every other at least this often,
	// directly or through the leader of both.
	KeepalivePeriod time.Duration
	// Expires is how long a peer stays alive without a fast message from it.
	Expires time.Duration
	// LockTime is how long a vote requested by this node binds the voter.
	LockTime time.Duration
	// MaxLockTime is the longest vote that this node grants. Without a state
	// directory it must never be lowered between runs.
	MaxLockTime time.Duration
}

const defaultDrift Drift = 100_000 // 1e-4, ten times the error of a bad quartz

// Local returns timing for nodes on one host, or in one rack with an idle
// network. MaxLockTime exceeds LockTime so that nodes of former builds, whose
// LockTime was 24 ms, lead as well.
func Local() Timing {
	return Timing{
		MaxDrift:        defaultDrift,
		OneWayTimeout:   900 * time.Microsecond,
		FastThreshold:   2 * time.Millisecond,
		SchedulingDelay: 1 * time.Millisecond,
		ElectionPeriod:  8 * time.Millisecond,
		KeepalivePeriod: 8 * time.Millisecond,
		Expires:         25 * time.Millisecond,
		LockTime:        23 * time.Millisecond,
		MaxLockTime:     24 * time.Millisecond,
	}
}

// LAN returns timing for a local network.
func LAN() Timing {
	return Timing{
		MaxDrift:        defaultDrift,
		OneWayTimeout:   4900 * time.Microsecond,
		FastThreshold:   10 * time.Millisecond,
		SchedulingDelay: 5 * time.Millisecond,
		ElectionPeriod:  25 * time.Millisecond,
		KeepalivePeriod: 25 * time.Millisecond,
		Expires:         100 * time.Millisecond,
		LockTime:        80 * time.Millisecond,
		MaxLockTime:     80 * time.Millisecond,
	}
}

// WAN returns timing for links across continents.
func WAN() Timing {
	return Timing{
		MaxDrift:        defaultDrift,
		OneWayTimeout:   120 * time.Millisecond,
		FastThreshold:   250 * time.Millisecond,
		SchedulingDelay: 20 * time.Millisecond,
		ElectionPeriod:  200 * time.Millisecond,
		KeepalivePeriod: 200 * time.Millisecond,
		Expires:         time.Second,
		LockTime:        1200 * time.Millisecond,
		MaxLockTime:     1200 * time.Millisecond,
	}
}

// Preset returns the timing of the named preset: local, lan or wan.
func Preset(name string) (Timing, error) {
	switch name {
	case "local":
		return Local(), nil
	case "lan":
		return LAN(), nil
	case "wan":
		return WAN(), nil
	}
	return Timing{}, fmt.Errorf("%q is none of local, lan, wan", name)
}

// Presets returns the names that [Preset] knows.
func Presets() []string { return []string{"local", "lan", "wan"} }

// Deaf reports whether a peer that is not alive, and whose last fast packet came age ago,
// does not hear this node. The last fast packet of a peer that is merely silent came almost
// Expires ago.
func (t Timing) Deaf(age time.Duration) bool { return age+2*t.KeepalivePeriod < t.Expires }

// RoundTime returns 2Δ(1+ρ), the length of an election round.
func (t Timing) RoundTime() time.Duration { return t.MaxDrift.Upper(2 * t.FastThreshold) }

// Period returns the longest time between two requests of a timely candidate:
// EP, or a whole round if that is longer. A candidate that asked again before
// the replies can arrive would never count any.
func (t Timing) Period() time.Duration { return max(t.ElectionPeriod, t.RoundTime()) }

// ReadyTime returns maxLock(1+2ρ+3ρ²), the time that a new incarnation must run
// before it votes or requests, because an earlier one may have voted.
func (t Timing) ReadyTime() time.Duration { return t.MaxDrift.Wait(t.MaxLockTime) }
