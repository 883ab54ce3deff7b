package clocksync

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// asks has references answer a leader at an instant: those whose clocks are off by offs.
func asks(c *Sync, h timed.Instant, utc Time, leap Leap, offs ...time.Duration) {
	for k, off := range offs {
		at := utc + Time(off)
		c.HandleSample(h, &Sample{Source: SourceID(k + 1), At: h, Low: at - 1e6, High: at + 1e6, Leap: leap}, nil)
	}
	c.Steer(h, c.Announce(h, h.Add(time.Second), nil))
}

func knows(t testing.TB, c *Sync, h timed.Instant, text string, judges bool) {
	t.Helper()
	k := c.Knowledge(h)
	require.Equal(t, text, k.String())
	require.Equal(t, judges, k.Judges())
}

// lacksAreNamed has a leader miss one thing after the other that it needs to know UTC.
func lacksAreNamed(t testing.TB) {
	c, utc, h := lone(3, 1_800_000_000_000_000_000)
	later := func(d time.Duration) timed.Instant {
		h = h.Add(d)
		return h
	}
	knows(t, c, h, "UTC is not known: 0 of 3 needed references have valid samples", false)
	asks(c, h, utc(h), NoLeap, 0, 0)
	knows(t, c, h, "UTC is not known: 2 of 3 needed references have valid samples", false)
	asks(c, later(time.Second), utc(h), NoLeap, 0, time.Hour, 2*time.Hour)
	knows(t, c, h, "UTC is disputed: no majority of the references agrees", false)
	asks(c, later(time.Second), utc(h), NoLeap, 0, 0, 0)
	knows(t, c, h, "UTC is known", true)
	later(SampleLife + time.Second)
	knows(t, c, h, "UTC is known within a bound that grows: 0 of 3 needed references have valid samples", false)
	asks(c, h, utc(h), NoLeap, 0, 0)
	knows(t, c, h, "UTC is known within a bound that grows: 2 of 3 needed references have valid samples", false)
}

func TestWhatTheKnowledgeOfUTCLacksIsNamed(t *testing.T) { lacksAreNamed(t) }

// tooFewAfterProof has fewer references come back than may be falsetickers of those that proved UTC.
func tooFewAfterProof(t testing.TB) {
	c, utc, h := lone(1, 1_800_000_000_000_000_000)
	asks(c, h, utc(h), NoLeap, 0, 0, 0, 0, 0)
	h = h.Add(SampleLife + time.Second)
	asks(c, h, utc(h), NoLeap, 0, 0)
	knows(t, c, h, "UTC is known within a bound that grows: 2 of 3 needed references have valid samples, because 5 have proved it", false)
	asks(c, h, utc(h), NoLeap, 0, 0, 0)
	knows(t, c, h, "UTC is known", true)
	asks(c, h, utc(h), NoLeap, 0, 0)
	h = h.Add(ProofLife + time.Second)
	asks(c, h, utc(h), NoLeap, 0, 0)
	knows(t, c, h, "UTC is known", true)
}

func TestTooFewReferencesAfterAProofAreNamed(t *testing.T) { tooFewAfterProof(t) }

func TestABoundThatIsTooWideIsNamed(t *testing.T) {
	c, utc, h := lone(1, 1_800_000_000_000_000_000)
	asks(c, h, utc(h), NoLeap, 0)
	h = h.Add(SampleLife - time.Second)
	knows(t, c, h, "UTC is known within 60.91ms only, and not within 50ms", true)
}

// aLeapSecondIsNamed has a leap second come, which all references announce.
func aLeapSecondIsNamed(t testing.TB) {
	leap := Time(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	const why = "UTC is not known: a leap second is near, so that no sample counts until 2027-01-01T00:05:00Z"
	c, utc, h := lone(1, leap-Time(time.Hour))
	asks(c, h, utc(h), LeapInsert, 0)
	knows(t, c, h, "UTC is known", true)
	for ; utc(h) < leap-Time(LeapMargin); h = h.Add(time.Minute) {
		asks(c, h, utc(h), LeapInsert, 0)
		if utc(h) < leap-Time(LeapMargin+time.Minute) {
			knows(t, c, h, "UTC is known", true)
		}
	}
	knows(t, c, h, why, false) // before another sample comes
	asks(c, h, utc(h), LeapInsert, 0)
	knows(t, c, h, why, false)
	h = h.Add(2*LeapMargin + time.Minute)
	asks(c, h, utc(h), NoLeap, 0)
	knows(t, c, h, "UTC is known", true)
}

func TestALeapSecondThatIsNearIsNamed(t *testing.T) { aLeapSecondIsNamed(t) }

// earlyLeap has the references be ahead by an hour. For them, a leap second comes. Then they are set
// right. The leap second is still to come, and they count once the first one is over by all clocks.
func earlyLeap(t testing.TB) {
	leap := Time(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	c, ahead, h := lone(1, leap-Time(2*LeapMargin))
	asks(c, h, ahead(h), LeapInsert, 0)
	h = h.Add(LeapMargin + time.Minute)
	asks(c, h, ahead(h), LeapInsert, 0)
	require.Equal(t, LackCalm, c.Knowledge(h).Lack)
	right := func(h timed.Instant) Time { return ahead(h) - Time(time.Hour) }
	asks(c, h.Add(time.Minute), right(h.Add(time.Minute)), LeapInsert, 0)
	require.Equal(t, LackCalm, c.Knowledge(h.Add(time.Minute)).Lack, "it may be a falseticker")
	h = h.Add(2*LeapMargin + time.Minute)
	asks(c, h, right(h), LeapInsert, 0)
	knows(t, c, h, "UTC is known", true)
}

func TestALeapSecondThatCameTooEarlyIsOver(t *testing.T) { earlyLeap(t) }

func TestAFollowerSaysThatItsLeaderAnnouncesNothing(t *testing.T) {
	c, _, h := lone(1, 1_800_000_000_000_000_000)
	l := Line{Timeline: TimelineID{Leader: 2, Boot: 2, Sequence: 1}, Until: h.Add(time.Second)}
	c.HandleLine(h, &l, 0, 0, nil)
	require.Equal(t, "UTC is not known: the leader announces none", c.Knowledge(h).String())
}
