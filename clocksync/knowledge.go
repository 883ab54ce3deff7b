package clocksync

import (
	"fmt"
	"time"

	"github.com/failaware/failaware/timed"
)

// Lack is what the knowledge of UTC lacks.
type Lack uint8

const (
	// LackNothing: UTC is known, within MaxUTCError.
	LackNothing Lack = iota
	// LackReferences: fewer than MinReferences count.
	LackReferences
	// LackProvers: too few count beside those that proved UTC last.
	LackProvers
	// LackMajority: UTC is disputed.
	LackMajority
	// LackCalm: a leap second is near.
	LackCalm
	// LackPrecision: the bound on UTC is above MaxUTCError.
	LackPrecision
	// LackLeader: the leader announces nothing.
	LackLeader
)

// Knowledge is what a node knows about UTC, and what that lacks.
type Knowledge struct {
	State UTCState
	Lack  Lack
	// Count of the references count, and Needed are needed: for LackReferences and LackProvers.
	Count, Needed int
	Proved        int           // LackProvers: how many proved UTC last
	Until         Time          // LackCalm: when UTC may be known again
	Bound, Limit  time.Duration // LackPrecision
}

// Judges reports whether references can be told from falsetickers.
func (k Knowledge) Judges() bool {
	return k.State == UTCKnown && k.Lack != LackReferences && k.Lack != LackProvers
}

// String says what is known and why not more is, for people.
func (k Knowledge) String() string {
	text := "UTC is not known"
	if k.State == UTCKnown {
		text = "UTC is known within a bound that grows"
	}
	switch k.Lack {
	case LackReferences:
		return fmt.Sprintf("%s: %d of %d needed references have valid samples", text, k.Count, k.Needed)
	case LackProvers:
		return fmt.Sprintf("%s: %d of %d needed references have valid samples, because %d have proved it", text, k.Count, k.Needed, k.Proved)
	case LackMajority:
		return "UTC is disputed: no majority of the references agrees"
	case LackCalm:
		return fmt.Sprintf("%s: a leap second is near, so that no sample counts until %s", text, k.Until.Go().Format(time.RFC3339))
	case LackPrecision:
		return fmt.Sprintf("UTC is known within %v only, and not within %v", roundUp(k.Bound), k.Limit)
	case LackLeader:
		return text + ": the leader announces none"
	}
	return "UTC is known"
}

// Knowledge returns what this node knows about UTC at now. A follower knows only what its
// leader announces.
func (c *Sync) Knowledge(now timed.Instant) Knowledge {
	u, r := &c.snap.utc, c.snap.Read(now)
	k := Knowledge{State: u.state, Count: c.sources.counting(now), Needed: c.cfg.MinReferences}
	end := c.sources.leapNear(now)
	if u.void != 0 && now >= u.void {
		end = leapOf(u.low)
	}
	switch {
	case end != 0:
		k.State, k.Lack, k.Until = UTCUnknown, LackCalm, end+Time(LeapMargin)
	case k.State == UTCDisputed:
		k.Lack = LackMajority
	case !c.snap.own && k.State == UTCUnknown:
		k.Lack = LackLeader
	case c.snap.own && k.Count < k.Needed:
		k.Lack = LackReferences
	case c.snap.own && c.lacksProvers(now, &k):
		k.Lack = LackProvers
	case r.UTCBound > c.cfg.MaxUTCError && r.UTCBound != UnknownBound:
		k.Lack, k.Bound, k.Limit = LackPrecision, r.UTCBound, c.cfg.MaxUTCError
	}
	return k
}

// counting returns how many references have samples that count.
func (t *references) counting(now timed.Instant) (n int) {
	if t == nil {
		return 0
	}
	for k := range t.list {
		if now.Sub(t.list[k].newest) <= SampleLife {
			n++
		}
	}
	return n
}

// lacksProvers reports whether all references that count may be falsetickers, by those that
// proved UTC last, and then says how many are needed. See [Sync.combine].
func (c *Sync) lacksProvers(now timed.Instant, k *Knowledge) bool {
	proved, falsetickers := c.proof.counts(now)
	if proved == 0 || k.Count > falsetickers {
		return false
	}
	k.Needed, k.Proved = falsetickers+1, proved
	return true
}

// leapNear returns the leap second that may be near, or 0.
func (t *references) leapNear(now timed.Instant) Time {
	if t == nil || now >= t.leapOver {
		return 0
	}
	return t.leapAt
}
