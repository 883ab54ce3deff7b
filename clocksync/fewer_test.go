package clocksync

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/timed"
)

// lone returns a leader that steers by references, and its clock, which is right.
func lone(minReferences int, begin Time) (c *Sync, utc func(timed.Instant) Time, start timed.Instant) {
	start = timed.Instant(time.Hour)
	c = New(Config{Self: timed.Incarnation{Node: 1, Boot: 1}, Timing: timed.LAN(), MaxDeviation: time.Millisecond, MaxSlew: DefaultMaxSlew,
		StepThreshold: DefaultStepThreshold, MaxUTCError: DefaultMaxUTCError, MinReferences: minReferences}, start, begin)
	c.HandleLead(start, nil)
	return c, func(h timed.Instant) Time { return begin + Time(h.Sub(start)) }, start
}

// fewerOverruleNothing has a falseticker be asked again before the others, after all were silent
// for longer than they count, and where references are asked so seldom that they never all count.
// The interval that more of them have proved stays true.
func fewerOverruleNothing(t testing.TB) {
	const off = time.Hour
	for name, asked := range map[string]func(s, k int) bool{
		"outage": func(s, k int) bool {
			return s < 900 && s%16 == k || s == 2800 && k == 2 || s == 3100 && k == 0 || s == 3500 && k == 1 || s > 3600 && s%16 == k
		},
		"seldom": func(s, k int) bool { return s%1024 == []int{0, 100, 850}[k] },
	} {
		c, utc, start := lone(1, 1_800_000_000_000_000_000)
		known, named := 0, 0
		for s := range 6000 {
			h := start.Add(time.Duration(s) * time.Second)
			var out []Effect
			for k := range 3 {
				at := utc(h)
				if k == 2 {
					at += Time(off)
				}
				if asked(s, k) {
					out = c.HandleSample(h, &Sample{Source: SourceID(k + 1), At: h, Low: at - 1e6, High: at + 1e6}, out)
				}
			}
			for i := range out {
				if out[i].Kind == Falseticker {
					named++
					require.EqualValues(t, 3, out[i].Source, name)
				}
			}
			c.Steer(h, c.Announce(h, h.Add(time.Second), nil))
			if r := c.Read(h); r.UTCBound != UnknownBound {
				known++
				require.LessOrEqual(t, r.Time.Sub(utc(h)).Abs(), r.UTCBound, "%s: at %d s", name, s)
			}
		}
		require.Greater(t, known, 5800, name)
		require.Positive(t, named, name)
	}
}

func TestFewerReferencesOverruleNothing(t *testing.T) { fewerOverruleNothing(t) }

// Those that are left go on, without the one that contradicts what all had proved.
func TestTheRestOfTheReferencesGoesOn(t *testing.T) {
	c, utc, start := lone(1, 1_800_000_000_000_000_000)
	ask := func(h timed.Instant, k int, off time.Duration, width Time) {
		at := utc(h) + Time(off)
		c.HandleSample(h, &Sample{Source: SourceID(k), At: h, Low: at - width, High: at + width}, nil)
	}
	for k := 1; k <= 3; k++ {
		ask(start, k, 0, 1e6)
	}
	later := start.Add(SampleLife + time.Second)
	ask(later, 1, time.Minute, 1e3)
	require.Greater(t, c.Read(later).UTCBound, time.Millisecond, "the proved interval gets wider")
	ask(later, 2, 0, 1e3)
	require.Less(t, c.Read(later).UTCBound, time.Millisecond)
	require.Less(t, c.Read(later).Time.Sub(utc(later)).Abs(), time.Millisecond)
	ask(later, 3, time.Minute, 1e3)
	require.Greater(t, c.Read(later).Time.Sub(utc(later)).Abs()+c.Read(later).UTCBound, 30*time.Second, "three count again, and two of them agree")
}

// asking returns a function that has a reference asked at a time. It says UTC but for off.
func asking(c *Sync, utc func(timed.Instant) Time) func(h timed.Instant, k int, off time.Duration, leap Leap) {
	return func(h timed.Instant, k int, off time.Duration, leap Leap) {
		at := utc(h) + Time(off)
		c.HandleSample(h, &Sample{Source: SourceID(k), At: h, Low: at - 1e3, High: at + 1e3, Leap: leap}, nil)
	}
}

// As many of the references that are left may be falsetickers as of all that proved UTC, also
// when the known interval has become so wide that they do not contradict it.
func fewerNeedAsMany(t testing.TB) {
	rapid.Check(t, func(t *rapid.T) {
		c, utc, start := lone(rapid.IntRange(1, 3).Draw(t, "needed"), 1_800_000_000_000_000_000)
		n := rapid.IntRange(3, 9).Draw(t, "references")
		off := make([]time.Duration, n)
		for k := range rapid.IntRange(1, n-majority(n)).Draw(t, "falsetickers") {
			off[k] = rapid.SampledFrom([]time.Duration{-1, 1}).Draw(t, "sign") * time.Duration(rapid.Int64Range(1e6, 2e8).Draw(t, "off"))
			if k > 0 && rapid.Bool().Draw(t, "common source") {
				off[k] = off[k-1]
			}
		}
		ask := asking(c, utc)
		for k := range n {
			ask(start, k+1, off[k], NoLeap)
		}
		h := start.Add(SampleLife)
		for range rapid.IntRange(1, 2*n).Draw(t, "questions") {
			h = h.Add(1 + time.Duration(rapid.Int64Range(0, int64(5*time.Minute)).Draw(t, "later")))
			k := rapid.IntRange(0, n-1).Draw(t, "reference")
			ask(h, k+1, off[k], NoLeap)
			i := c.snap.utc.project(h, c.snap.rho)
			require.LessOrEqual(t, i.low, utc(h)+2, "after %v", h.Sub(start))
			require.GreaterOrEqual(t, i.high, utc(h)-2, "after %v", h.Sub(start))
		}
	})
}

func TestFewerReferencesNeedAsMany(t *testing.T) { fewerNeedAsMany(t) }

// A leap second that all announced is not forgotten because falsetickers are most of those that
// are left.
func fewerKnowTheLeap(t testing.TB) {
	c, utc, start := lone(1, 1_800_000_000_000_000_000)
	ask := asking(c, utc)
	for k := 1; k <= 5; k++ {
		ask(start, k, 0, LeapInsert)
	}
	later := start.Add(SampleLife + time.Second)
	for k := 1; k <= 2; k++ {
		ask(later, k, 0, NoLeap)
	}
	require.Equal(t, LeapInsert, c.Read(later).Leap)
	ask(later, 3, 0, LeapInsert)
	require.Equal(t, LeapInsert, c.Read(later).Leap)
	require.Less(t, c.Read(later).UTCBound, time.Millisecond)
}

func TestFewerReferencesKnowTheLeap(t *testing.T) { fewerKnowTheLeap(t) }

// References that are silent for a day are taken for retired: the others prove UTC without them.
func retiredReferences(t testing.TB) {
	c, utc, start := lone(1, 1_800_000_000_000_000_000)
	ask := asking(c, utc)
	for k := 1; k <= 3; k++ {
		ask(start, k, 0, NoLeap)
	}
	ask(start.Add(ProofLife), 1, 0, NoLeap)
	require.Greater(t, c.Read(start.Add(ProofLife)).UTCBound, time.Second, "it may be the falseticker")
	h := start.Add(ProofLife + time.Second)
	ask(h, 1, 0, NoLeap)
	require.Less(t, c.Read(h).UTCBound, time.Millisecond)
}

func TestSilentReferencesRetire(t *testing.T) { retiredReferences(t) }

// aheadOfALeap has a reference be far ahead when a leap second comes. Nothing is known around it.
func aheadOfALeap(t testing.TB) {
	leap := Time(time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	c, count, start := lone(3, leap-Time(15*time.Minute))
	for s := range 30 * 60 {
		h := start.Add(time.Duration(s) * time.Second)
		at, announced := count(h), LeapInsert
		if at >= leap {
			at, announced = at-Time(time.Second), NoLeap
		}
		if s%16 == 0 {
			far := at + Time(20*time.Minute)
			for _, x := range []Sample{{1, h, at - 1e6, at + 1e6, announced}, {2, h, at - 1e6, at + 1e6, announced}, {3, h, far - 1e6, far + 1e6, NoLeap}} {
				c.HandleSample(h, &x, nil)
			}
		}
		c.Steer(h, c.Announce(h, h.Add(time.Second), nil))
		near := at.Sub(leap).Abs() < LeapMargin-20*time.Second
		r := c.Read(h)
		require.False(t, near && r.UTCBound != UnknownBound, "%v from the leap second: %v", at.Sub(leap), r.UTCBound)
		require.False(t, at.Sub(leap) > LeapMargin+time.Minute && r.UTCBound == UnknownBound, "%v from the leap second", at.Sub(leap))
	}
}

// announcedLate has a server announce a leap second that has just come. A node that started
// behind it, and knows nothing of it, does not believe the server.
func announcedLate(t testing.TB) {
	leap := Time(time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	for behind, known := range map[time.Duration]bool{0: false, LeapMargin / 2: false, LeapMargin + time.Second: true} {
		c, utc, start := lone(1, leap+Time(behind))
		asking(c, utc)(start, 1, 0, LeapInsert)
		require.Equal(t, known, c.Read(start).UTCBound != UnknownBound, behind)
	}
}

func TestALeapSecondIsAnnouncedLate(t *testing.T) { announcedLate(t) }

func TestOneReferenceEndsNoLeapMargin(t *testing.T) { aheadOfALeap(t) }

// formerProofIsOver has a node lead three right references, follow a node whose only reference is
// wrong by an hour, and lead two of the right ones again. What the three have proved was given up
// when it followed, so it must not defend what the other leader said.
func formerProofIsOver(t testing.TB) {
	c, utc, start := lone(1, 1_800_000_000_000_000_000)
	lead := func(from, until time.Duration, sources ...int) {
		for s := from; s < until; s += time.Second {
			h := start.Add(s)
			for _, k := range sources {
				at := utc(h)
				c.HandleForwarded(h, timed.NodeID(k), &Forwarded{Count: 1, List: [2]Sample{{Source: SourceID(k), At: h, Low: at - 1e6, High: at + 1e6}}}, 0, 0, nil)
			}
			c.Steer(h, c.Announce(h, h.Add(time.Second), nil))
		}
	}
	lead(0, time.Minute, 3, 4, 5)
	for s := time.Minute; s < 12*time.Minute; s += time.Second {
		h := start.Add(s)
		wrong := utc(h) + Time(time.Hour)
		c.HandleLine(h, &Line{Timeline: TimelineID{Leader: 2, Boot: 9, Sequence: 1}, Base: h, Shown: wrong, Until: h.Add(2 * time.Second)}, 0, 0, nil)
		c.HandleUTC(h, &UTC{State: UTCKnown, At: h, Low: wrong - 1e6, High: wrong + 1e6}, 0, 0, nil)
	}
	c.HandleLead(start.Add(12*time.Minute), nil)
	lead(12*time.Minute+time.Second, 12*time.Minute+3*time.Second, 3, 4)
	h := start.Add(12*time.Minute + 3*time.Second)
	r := c.Read(h)
	require.LessOrEqual(t, r.Time.Sub(utc(h)).Abs(), r.UTCBound)
}

func TestAFormerProofIsOver(t *testing.T) { formerProofIsOver(t) }
