package clocksync

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/timed"
)

// Sources that a node asks itself, and sources of which it hears by others.
const (
	ownSources = 3
	allSources = 6
)

// In any history, nothing steers that a known falseticker has said, or that was said once and
// comes again, and a node forwards what its own references say.
func samplesCountOnce(t testing.TB) {
	_, line := leader(t, 2, wall)
	rapid.Check(t, func(t *rapid.T) {
		cfg := utcConfig(1)
		cfg.MinReferences = rapid.IntRange(1, 3).Draw(t, "least")
		c, now, said := New(cfg, start, wall), start, map[SourceID]int{}
		var told Forwarded
		var toldAt timed.Instant
		off := rapid.SampledFrom([]time.Duration{0, 0, time.Millisecond, 10 * time.Second, -10 * time.Second})
		// A follower's clock shows the same as this one, which is known less and less exactly.
		tell := func(t *rapid.T) {
			below, above := rapid.IntRange(0, 1e6).Draw(t, "below"), rapid.IntRange(0, 1e6).Draw(t, "above")
			c.HandleForwarded(now, 3, &told, time.Duration(-below), time.Duration(above), nil)
		}
		t.Repeat(map[string]func(*rapid.T){
			"asks": func(t *rapid.T) {
				s := SourceID(rapid.IntRange(1, ownSources).Draw(t, "source"))
				says(c, s, now, off.Draw(t, "off"), time.Millisecond, NoLeap)
				said[s]++
			},
			"is told": func(t *rapid.T) {
				s := SourceID(rapid.IntRange(ownSources+1, allSources).Draw(t, "source"))
				utc := wall + Time(now.Sub(start)) + Time(off.Draw(t, "off"))
				told, toldAt = Forwarded{Count: 1, List: [MaxForwarded]Sample{{Source: s, At: now, Low: utc - 1e6, High: utc + 1e6}}}, now
				said[s]++
				tell(t)
			},
			"is told again": func(t *rapid.T) {
				if toldAt == 0 || now.Sub(toldAt) > SampleLife/2 {
					t.Skip("nothing that is repeated")
				}
				tell(t)
			},
			"leads":   func(*rapid.T) { c.HandleLead(now, nil) },
			"follows": func(*rapid.T) { c.HandleLine(now, &line, 0, 0, nil) },
			"steers":  func(*rapid.T) { c.Steer(now, nil) },
			"forwards": func(t *rapid.T) {
				for _, e := range c.Forward(now, timed.Incarnation{Node: 2, Boot: 2}, nil) {
					for _, s := range e.Samples.Samples() {
						require.LessOrEqual(t, s.Source, SourceID(ownSources), "a sample of another node's reference")
					}
				}
			},
			"waits": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.OneOf(rapid.Int64Range(0, 10e9), rapid.Int64Range(0, 300e9)).Draw(t, "ns")))
			},
			"": func(t *rapid.T) { checkSteering(t, c, said) },
		})
	})
}

// checkSteering requires that the samples that steer were said, and by no known falseticker.
func checkSteering(t *rapid.T, c *Sync, said map[SourceID]int) {
	if c.sources == nil {
		return
	}
	count := map[SourceID]int{}
	for k := range c.sources.steer.n {
		o := c.sources.steer.sample(k)
		count[o.source]++
		r := c.sources.of(o.source)
		require.False(t, r != nil && r.wrong, "source %d is known to be wrong, and steers", o.source)
	}
	for s, n := range count {
		require.LessOrEqual(t, n, said[s], "a sample of source %d counts twice", s)
	}
}

func TestSamplesCountOnce(t *testing.T) { samplesCountOnce(t) }

// Samples steer for observationLife after the last of them, and no longer.
func oldSamplesSteerNothing(t testing.TB) {
	for after, steers := range map[time.Duration]bool{observationLife: true, observationLife + 1: false} {
		c, at := utcLeader(), start
		for range 4 {
			at = at.Add(16 * time.Second)
			says(c, 1, at, 5*time.Millisecond, time.Millisecond, NoLeap)
		}
		before := c.line
		c.Steer(at.Add(after), nil)
		require.Equal(t, steers, c.line != before, "%v after the last sample", after)
	}
}

func TestOldSamplesSteerNothing(t *testing.T) { oldSamplesSteerNothing(t) }

// A line owes nothing to the promise of the line before: it bends at once.
func newLinesOweNothing(t testing.TB) {
	for name, begin := range map[string]func(c *Sync, at timed.Instant){
		"by a step": func(c *Sync, at timed.Instant) { require.Equal(t, []Kind{Stepped}, kinds(c.Steer(at, nil))) },
		"by another lead": func(c *Sync, at timed.Instant) {
			_, line := leader(t, 2, wall)
			c.HandleLine(at, &line, 0, 0, nil)
			c.HandleLead(at, nil)
		},
	} {
		c := utcLeader()
		announced(t, c, start, start.Add(10*time.Second))
		says(c, 1, start, 30*time.Millisecond, time.Millisecond, NoLeap)
		begin(c, start)
		c.Steer(start, nil)
		at := start.Add(time.Second)
		says(c, 1, at, 33*time.Millisecond, time.Millisecond, NoLeap)
		c.Steer(at, nil)
		require.Equal(t, at, c.line.Bend, name)
	}
}

func TestANewLineOwesNothingToTheOneBefore(t *testing.T) { newLinesOweNothing(t) }

// Neither does a sample that is older than observationLife when another comes: it was taken at
// another rate.
func oldSamplesFitNothing(t testing.TB) {
	sample := func(at timed.Instant, off time.Duration) interval {
		utc := wall + Time(at.Sub(start)) + Time(off)
		return interval{at, utc - 1e6, utc + 1e6}
	}
	later := start.Add(observationLife + 1)
	var s, fresh steering
	s.add(1, sample(start, time.Second))
	s.add(1, sample(later, 0))
	fresh.add(1, sample(later, 0))
	require.Equal(t, fresh.at(later), s.at(later))
	require.Equal(t, fresh.rate, s.rate)
}

func TestOldSamplesFitNothing(t *testing.T) { oldSamplesFitNothing(t) }

// Nothing steers when the only reference turns out to be wrong, also on a clock that has just begun.
func TestAFalsetickerSteersNothing(t *testing.T) {
	var s steering
	now := timed.Instant(time.Minute)
	s.add(1, interval{now, wall, wall + 1e6})
	require.True(t, s.ready(now))
	s.forget(1)
	require.False(t, s.ready(now))
}

// When the leader's references dispute UTC, a follower does not know any more which of its own
// samples were right.
func disputeOfTheLeader(t testing.TB) {
	_, line := leader(t, 2, wall)
	c := New(utcConfig(1), start, wall)
	c.HandleLine(start, &line, 0, 0, nil)
	says(c, 1, start, 0, time.Millisecond, NoLeap)
	require.True(t, c.sources.steer.ready(start))
	c.HandleUTC(start, &UTC{State: UTCDisputed}, 0, 0, nil)
	require.False(t, c.sources.steer.ready(start))
}

func TestADisputeOfTheLeaderCounts(t *testing.T) { disputeOfTheLeader(t) }
