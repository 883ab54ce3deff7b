package clocksync

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

func utcConfig(id timed.NodeID) Config {
	c := config(id)
	c.MaxUTCError, c.MinReferences = DefaultMaxUTCError, DefaultMinReferences
	return c
}

// utcLeader returns the clock of a leader that shows UTC.
func utcLeader() *Sync {
	c := New(utcConfig(1), start, wall)
	c.HandleLead(start, nil)
	return c
}

// says gives a sample of a source whose clock is off by a given time.
func says(c *Sync, source SourceID, at timed.Instant, off, half time.Duration, leap Leap) []Effect {
	truth := wall + Time(at.Sub(start)) + Time(off)
	return c.HandleSample(at, &Sample{source, at, truth - Time(half), truth + Time(half), leap}, nil)
}

func kinds(effects []Effect) (k []Kind) {
	for _, e := range effects {
		k = append(k, e.Kind)
	}
	return k
}

func TestExchangeHoldsTheServersTime(t *testing.T) {
	rho := timed.LAN().MaxDrift
	s := FromExchange(7, 1000, 1000+timed.Instant(time.Millisecond), wall, wall, 10*time.Microsecond, rho)
	require.Equal(t, SourceID(7), s.Source)
	require.Equal(t, wall-Time(10*time.Microsecond), s.Low, "the answer may have taken no time")
	require.Equal(t, wall+Time(time.Millisecond+100+10*time.Microsecond), s.High, "or the question may have taken no time")
	held := FromExchange(7, 1000, 1000+timed.Instant(time.Millisecond), wall, wall+Time(800*time.Microsecond), 0, rho)
	require.Equal(t, 300*time.Microsecond+100, held.High.Sub(held.Low), "a server's hold time may be off by an eighth")
}

func TestReferenceMakesReadingsExternal(t *testing.T) {
	c := utcLeader()
	out := says(c, 1, start, 0, time.Millisecond, NoLeap)
	require.Equal(t, []Kind{UTCChanged}, kinds(out))
	r := c.Read(start)
	require.Equal(t, External, r.Status)
	require.InDelta(t, float64(time.Millisecond), float64(r.UTCBound), 100)
	later := c.Read(start.Add(100 * time.Second))
	require.InDelta(t, float64(11*time.Millisecond), float64(later.UTCBound), 100, "100 ppm of 100 s more")
	require.Equal(t, External, later.Status)
	late := c.Read(start.Add(1000 * time.Second))
	require.Equal(t, Internal, late.Status, "the flag drops by itself")
	require.NotEqual(t, UnknownBound, late.UTCBound)
}

// The intersection of one source's samples contains UTC. If they contradict each other,
// the last one counts.
func TestSamplesOfOneSource(t *testing.T) { samplesOfOneSource(t) }

func samplesOfOneSource(t testing.TB) {
	c := utcLeader()
	bounds := func() (low, high time.Duration) {
		i := c.References(start)[0]
		return i.Low.Sub(wall), i.High.Sub(wall)
	}
	for _, s := range []struct{ off, half, low, high time.Duration }{
		{off: 2, half: 10, low: -8, high: 12}, // milliseconds
		{off: -3, half: 8, low: -8, high: 5},
		{off: 0, half: 20, low: -8, high: 5},
		{off: 50, half: 10, low: 40, high: 60},
	} {
		if s.off == 50 {
			c.refs().of(1).newest -= timed.Instant(time.Second) // it contradicts those of a second ago
		}
		says(c, 1, start, s.off*time.Millisecond, s.half*time.Millisecond, NoLeap)
		low, high := bounds()
		require.Equal(t, s.low*time.Millisecond, low)
		require.Equal(t, s.high*time.Millisecond, high)
	}
}

// staleSamples has two nodes ask a server that is an hour fast at first. The one that asked it
// before it was mended forwards that sample again and again, with the leap second that the server
// announced. It overrules nothing.
func staleSamples(t testing.TB) {
	c := utcLeader()
	at := func(s time.Duration) timed.Instant { return start.Add(s * time.Second) }
	forward := func(now, at timed.Instant, off time.Duration, leap Leap) []Effect {
		utc := wall + Time(at.Sub(start)) + Time(off)
		return c.HandleForwarded(now, 2, &Forwarded{1, [MaxForwarded]Sample{{7, at, utc - 1e6, utc + 1e6, leap}}}, 0, 0, nil)
	}
	forward(at(1), at(1), time.Hour, LeapInsert)
	require.Greater(t, c.Read(at(1)).UTCBound, time.Minute)
	says(c, 7, at(10), 0, time.Millisecond, NoLeap)
	for s := time.Duration(11); s < 30; s += 2 {
		require.Empty(t, c.Steer(at(s), forward(at(s), at(1), time.Hour, LeapInsert)), "at %d s", s)
		r := c.Read(at(s))
		require.LessOrEqual(t, r.Time.Sub(wall+Time(at(s).Sub(start))).Abs(), r.UTCBound)
		require.Equal(t, NoLeap, r.Leap)
		require.EqualValues(t, 1, c.References(at(s))[0].Node, "which asked it last")
	}
	forward(at(31), at(31), 0, NoLeap)
	require.EqualValues(t, 2, c.References(at(31))[0].Node)
	forward(at(40), at(40), time.Minute, NoLeap)
	require.Greater(t, c.Read(at(40)).UTCBound, 50*time.Second, "a newer one does")
}

func TestASampleOverrulesNoNewerOne(t *testing.T) { staleSamples(t) }

// A leader intersects samples that followers forward again with its own. When it follows, it says
// of what it forwards the time of its newest sample, and not of the last repetition.
func forwardsTheTime(t testing.TB) {
	c := utcLeader()
	says(c, 7, start, 0, time.Millisecond, NoLeap)
	f := Forwarded{1, [MaxForwarded]Sample{{7, start, wall - 2e6, wall, NoLeap}}}
	now := start.Add(time.Minute)
	c.HandleForwarded(now, 2, &f, 0, 0, nil)
	_, line := leader(t, 2, wall)
	c.HandleLine(now, &line, 0, 0, nil)
	out := c.Forward(now, timed.Incarnation{Node: 2, Boot: 2}, nil)
	require.Len(t, out, 1)
	s := out[0].Samples.Samples()[0]
	require.Equal(t, start, s.At)
	require.LessOrEqual(t, s.Low, wall-1e6)
	require.GreaterOrEqual(t, s.High, wall)
}

func TestForwardedIsTheTimeOfTheSample(t *testing.T) { forwardsTheTime(t) }

// A caller that widens the bounds of a reading, to keep time from running back, asks
// Judge for the remaining status.
func TestHeldReadingsAreJudgedAgain(t *testing.T) { heldReadings(t) }

func heldReadings(t testing.TB) {
	cfg := utcConfig(1)
	cfg.MaxUTCError = DefaultMaxDeviation / 2
	c := New(cfg, start, wall)
	c.HandleLead(start, nil)
	says(c, 1, start, 0, DefaultMaxDeviation/4, NoLeap)
	s := c.Snapshot()
	for _, w := range []struct {
		by   time.Duration
		want Status
	}{{0, External}, {DefaultMaxDeviation / 8, External}, {DefaultMaxDeviation / 2, Internal},
		{DefaultMaxDeviation, Internal}, {DefaultMaxDeviation + 1, Unsynchronized}} {
		r := s.Read(start)
		require.Equal(t, External, r.Status)
		r.Deviation, r.UTCBound = r.Deviation+w.by, r.UTCBound+w.by
		s.Judge(&r)
		require.Equal(t, w.want, r.Status, w.by)
	}
}

func TestAFalsetickerIsNamed(t *testing.T) { falsetickerIsNamed(t) }

func falsetickerIsNamed(t testing.TB) {
	c := utcLeader()
	says(c, 1, start, 0, time.Millisecond, NoLeap)
	says(c, 2, start, 0, time.Millisecond, NoLeap)
	out := says(c, 3, start, 10*time.Second, time.Millisecond, NoLeap)
	require.Equal(t, []Kind{Falseticker}, kinds(out))
	require.Equal(t, SourceID(3), out[0].Source)
	require.InDelta(t, float64(10*time.Second), float64(out[0].Step), float64(time.Millisecond))
	require.Equal(t, External, c.Read(start).Status)
	at := start.Add(time.Second)
	require.Equal(t, []Kind{Truechimer}, kinds(says(c, 3, at, 0, time.Millisecond, NoLeap)), "it is right again")
	at = at.Add(time.Second)
	says(c, 2, at, -10*time.Second, time.Millisecond, NoLeap)
	out = says(c, 3, at, 10*time.Second, time.Millisecond, NoLeap)
	require.Contains(t, kinds(out), UTCChanged, "two of three are wrong: no majority")
	require.Equal(t, UnknownBound, c.Read(at).UTCBound)
	u, ok := announcedUTC(c, at)
	require.True(t, ok)
	require.Equal(t, UTC{State: UTCDisputed}, u)
}

// smallFalsetickersStay has a falseticker be off by less than the drift of its interval and of
// UTC between two samples. Age alone does not make it right.
func smallFalsetickersStay(t testing.TB) {
	c := utcLeader()
	const half = 100 * time.Microsecond
	var verdicts []Kind
	note := func(out []Effect) {
		for _, k := range kinds(out) {
			if k == Falseticker || k == Truechimer {
				verdicts = append(verdicts, k)
			}
		}
	}
	at := start
	for range 10 {
		for _, source := range []SourceID{1, 2, 4} {
			note(says(c, source, at, 0, half, NoLeap))
		}
		note(says(c, 3, at, 2*time.Millisecond, half, NoLeap))
		at = at.Add(30 * time.Second)
		note(says(c, 1, at, 0, half, NoLeap))
	}
	require.Equal(t, []Kind{Falseticker}, verdicts)
	for _, source := range []SourceID{1, 2, 3, 4} {
		note(says(c, source, at.Add(time.Second), 0, half, NoLeap))
	}
	require.Equal(t, []Kind{Falseticker, Truechimer}, verdicts)
}

func TestASmallFalsetickerStaysOne(t *testing.T) { smallFalsetickersStay(t) }

// Nothing is known of UTC around a leap second, and older samples do not count after
// it.
func TestLeapSecond(t *testing.T) { leapSecond(t) }

func leapSecond(t testing.TB) {
	end := Time(time.Date(2026, time.December, 31, 23, 59, 0, 0, time.UTC).Add(time.Minute).UnixNano())
	before := end - Time(time.Hour)
	c := New(utcConfig(1), start, before)
	c.HandleLead(start, nil)
	sample := func(at timed.Instant, utc Time, l Leap) {
		c.HandleSample(at, &Sample{1, at, utc - 1e6, utc + 1e6, l}, nil)
	}
	sample(start, before, LeapInsert)
	r := c.Read(start)
	require.Equal(t, External, r.Status)
	require.Equal(t, LeapInsert, r.Leap)
	require.Equal(t, External, c.Read(start.Add(time.Minute)).Status)
	void := c.snap.utc.void
	for now := void - 1; now <= void; now++ {
		u, announced := announcedUTC(c, now)
		require.True(t, announced, "who has proved it, at least")
		require.Equal(t, now < void, u.State == UTCKnown)
		require.Equal(t, now < void, c.Read(now).UTCBound != UnknownBound)
	}
	near := start.Add(time.Hour - LeapMargin + time.Second)
	require.Equal(t, Internal, c.Read(near).Status)
	require.Equal(t, UnknownBound, c.Read(near).UTCBound)
	sample(near, before+Time(near.Sub(start)), LeapInsert)
	require.Equal(t, UnknownBound, c.Read(near).UTCBound, "a sample near the leap second does not count either")
	u, _ := announcedUTC(c, near)
	require.Equal(t, UTCUnknown, u.State)
	after := start.Add(time.Hour + LeapMargin + time.Minute)
	sample(after, before+Time(after.Sub(start))-Time(time.Second), NoLeap)
	require.InDelta(t, float64(time.Second), float64(c.Read(after).UTCBound), 1e7, "UTC has one more second, and the bound covers it")
	require.Len(t, c.References(after), 1)
	require.Equal(t, 1, c.sources.steer.n, "samples of before the leap second count no more")
	out := c.Steer(after, nil)
	require.Equal(t, []Kind{Stepped}, kinds(out))
	require.Equal(t, External, c.Read(after).Status)
}

// Weeks before a leap second, a slow clock comes to it early.
func leapOnASlowClock(t testing.TB) {
	end := Time(time.Date(2026, time.July, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	const left = 20 * 24 * time.Hour
	c := New(utcConfig(1), start, end-Time(left))
	c.HandleLead(start, nil)
	const wide = 30 * time.Second // UTC may be that much further
	c.HandleSample(start, &Sample{1, start, end - Time(left), end - Time(left-wide), LeapInsert}, nil)
	near := start.Add(timed.LAN().MaxDrift.Lower(left - wide - LeapMargin))
	require.NotEqual(t, UnknownBound, c.Read(near.Add(-time.Minute)).UTCBound)
	require.Equal(t, UnknownBound, c.Read(near).UTCBound)
}

func TestASlowClockComesEarlyToALeapSecond(t *testing.T) { leapOnASlowClock(t) }

// A node that becomes the leader believes its references at once.
func newLeaderKnowsUTC(t testing.TB) {
	c := New(utcConfig(1), start, wall)
	says(c, 1, start, 0, time.Millisecond, NoLeap)
	require.Equal(t, UnknownBound, c.Read(start).UTCBound, "a follower leaves that to its leader")
	require.Equal(t, []Kind{Adopted, UTCChanged}, kinds(c.HandleLead(start, nil)))
	require.Equal(t, External, c.Read(start).Status)
}

func TestANewLeaderBelievesItsReferences(t *testing.T) { newLeaderKnowsUTC(t) }

// A follower without references that becomes the leader near a leap second knows of the
// leap second.
func TestLeapSecondOutlivesTheLeader(t *testing.T) {
	end := Time(time.Date(2026, time.July, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	begin := end - Time(LeapMargin) - Time(time.Minute)
	_, line := leader(t, 2, begin)
	c := New(utcConfig(1), start, begin)
	c.HandleLine(start, &line, 0, 0, nil)
	c.HandleUTC(start, &UTC{State: UTCKnown, At: start, Low: begin, High: begin, Leap: LeapDelete}, 0, 0, nil)
	require.Equal(t, External, c.Read(start).Status)
	at := start.Add(2 * time.Minute)
	c.HandleLead(at, nil)
	utc := begin + Time(2*time.Minute)
	f := Forwarded{Count: 1, List: [MaxForwarded]Sample{{Source: 1, At: at, Low: utc, High: utc}}}
	c.HandleForwarded(at, 3, &f, 0, 0, nil)
	require.Equal(t, UnknownBound, c.Read(at).UTCBound)
	at = start.Add(2*LeapMargin + 2*time.Minute)
	utc = begin + Time(at.Sub(start)) + Time(time.Second)
	f.List[0] = Sample{Source: 1, At: at, Low: utc, High: utc}
	c.HandleForwarded(at, 3, &f, 0, 0, nil)
	require.NotEqual(t, UnknownBound, c.Read(at).UTCBound)
}

func TestOneAnnouncementOfALeapIsNoMajority(t *testing.T) {
	c := utcLeader()
	for s := SourceID(1); s <= 3; s++ {
		says(c, s, start, 0, time.Millisecond, Leap(s/3))
	}
	require.Equal(t, NoLeap, c.Read(start).Leap)
	says(c, 1, start.Add(time.Second), 0, time.Millisecond, LeapInsert)
	require.Equal(t, LeapInsert, c.Read(start.Add(time.Second)).Leap)
}

func TestReferencesExpire(t *testing.T) {
	c := utcLeader()
	says(c, 1, start, 0, time.Millisecond, NoLeap)
	says(c, 2, start, 10*time.Second, time.Millisecond, NoLeap)
	require.Equal(t, UnknownBound, c.Read(start).UTCBound, "one against one")
	at := start.Add(SampleLife + time.Second)
	says(c, 1, at, 0, time.Millisecond, NoLeap)
	require.Equal(t, External, c.Read(at).Status, "the other has fallen silent")
}

// A known falseticker that falls silent counts no more: neither for the majority nor for
// MinReferences.
func TestFalsetickersExpire(t *testing.T) { falsetickersExpire(t) }

func falsetickersExpire(t testing.TB) {
	c := utcLeader()
	says(c, 1, start, 0, time.Millisecond, NoLeap)
	says(c, 2, start, 0, time.Millisecond, NoLeap)
	says(c, 3, start, 10*time.Second, time.Millisecond, NoLeap)
	require.True(t, c.References(start)[2].Falseticker)
	at := start.Add(SampleLife + time.Second)
	says(c, 1, at, 0, time.Millisecond, NoLeap)
	says(c, 2, at, 0, time.Millisecond, NoLeap)
	require.Len(t, c.References(at), 2)
}

func TestReferencesAreBounded(t *testing.T) {
	c := utcLeader()
	for s := SourceID(1); s <= 2*MaxReferences; s++ {
		says(c, s, start, 0, time.Millisecond, NoLeap)
	}
	require.Len(t, c.sources.list, MaxReferences)
}

func TestFollowersForwardNewSamplesAndRepeatThem(t *testing.T) {
	_, line := leader(t, 2, wall)
	c := New(utcConfig(1), start, wall)
	c.HandleLine(start, &line, 0, 0, nil)
	to := timed.Incarnation{Node: 2, Boot: 2}
	require.Empty(t, c.Forward(start, to, nil), "it has no references")
	for s := SourceID(1); s <= 3; s++ {
		says(c, s, start, 0, time.Millisecond, NoLeap)
	}
	told := map[SourceID]int{}
	forward := func(at timed.Instant, to timed.Incarnation) bool {
		out := c.Forward(at, to, nil)
		for i := range out {
			require.Equal(t, SendSamples, out[i].Kind)
			require.Equal(t, to.Node, out[i].Peer)
			for _, s := range out[i].Samples.Samples() {
				told[s.Source]++
				require.LessOrEqual(t, s.Low, wall+Time(s.At.Sub(start)))
				require.GreaterOrEqual(t, s.High, wall+Time(s.At.Sub(start)))
			}
		}
		return len(out) > 0
	}
	for range 3 {
		require.True(t, forward(start, to))
	}
	require.Equal(t, map[SourceID]int{1: 2, 2: 2, 3: 2}, told)
	require.False(t, forward(start, to), "twice is enough")
	require.True(t, forward(start.Add(forwardEvery), to), "but only for a while")
	other := timed.Incarnation{Node: 3, Boot: 3}
	clear(told)
	for forward(start.Add(forwardEvery), other) {
	}
	require.Equal(t, map[SourceID]int{1: 2, 2: 2, 3: 2}, told, "another leader knows nothing")
}

// One reference that has nothing new does not keep back the others.
func TestForwardPassesOverOldSamples(t *testing.T) {
	_, line := leader(t, 2, wall)
	c := New(utcConfig(1), start, wall)
	c.HandleLine(start, &line, 0, 0, nil)
	says(c, 1, start, 0, time.Millisecond, NoLeap)
	to := timed.Incarnation{Node: 2, Boot: 2}
	for range forwardTimes {
		require.NotEmpty(t, c.Forward(start, to, nil))
	}
	says(c, 2, start, 0, time.Millisecond, NoLeap)
	c.sources.next = 1 // the first is next
	out := c.Forward(start, to, nil)
	require.Len(t, out, 1)
	require.EqualValues(t, 2, out[0].Samples.Samples()[0].Source)
}

// A follower knows at once that its own reference contradicts what the leader knows.
func TestAFollowerNamesItsFalseticker(t *testing.T) {
	_, line := leader(t, 2, wall)
	c := New(utcConfig(1), start, wall)
	c.HandleLine(start, &line, 0, 0, nil)
	c.HandleUTC(start, &UTC{State: UTCKnown, At: start, Low: wall, High: wall}, 0, 0, nil)
	require.Equal(t, []Kind{Falseticker}, kinds(says(c, 1, start, 10*time.Second, time.Millisecond, NoLeap)))
	at := start.Add(time.Minute)
	says(c, 1, at, 10*time.Second, time.Millisecond, NoLeap)
	require.Zero(t, c.References(at)[0].Age, "the last sample counts")
}

// A follower does not judge a reference by a sample that does not count any more.
func TestOldSamplesAreNoFalsetickers(t *testing.T) {
	_, line := leader(t, 2, wall)
	c := New(utcConfig(1), start, wall)
	c.HandleLine(start, &line, 0, 0, nil)
	says(c, 1, start, 10*time.Second, time.Millisecond, NoLeap)
	at := start.Add(SampleLife + 1)
	utc := wall + Time(at.Sub(start))
	require.Equal(t, []Kind{UTCChanged}, kinds(c.HandleUTC(at, &UTC{State: UTCKnown, At: at, Low: utc, High: utc}, 0, 0, nil)))
}

func TestAnnouncementsOfUTCAreChecked(t *testing.T) {
	for _, u := range []UTC{{State: UTCUnknown}, {State: UTCDisputed}, {State: UTCKnown}, {State: UTCKnown, Leap: LeapDelete}} {
		require.True(t, u.Valid(), "%+v", u)
	}
	for _, u := range []UTC{{State: UTCDisputed + 1}, {State: UTCDisputed, At: 1}, {State: UTCUnknown, High: 1}, {State: UTCKnown, At: -1},
		{State: UTCKnown, Low: 1}, {State: UTCKnown, Leap: LeapDelete + 1}, {State: UTCKnown, High: maxTime}, {State: UTCKnown, Low: -maxTime}} {
		require.False(t, u.Valid(), "%+v", u)
	}
}

// The status is External as long as the bound is at most the configured one.
func TestTheLargestErrorIsExternal(t *testing.T) {
	for want, more := range map[Status]time.Duration{External: 0, Internal: 1} {
		c := utcLeader()
		says(c, 1, start, 0, DefaultMaxUTCError-rounding+more, NoLeap)
		require.Equal(t, DefaultMaxUTCError+more, c.Read(start).UTCBound)
		require.Equal(t, want, c.Read(start).Status)
	}
}

func TestForeignUTCIsRefused(t *testing.T) {
	c := utcLeader()
	require.Empty(t, c.HandleSample(start, &Sample{}, nil))
	require.Empty(t, c.HandleSample(start, &Sample{Source: 1, At: start.Add(2 * maxAhead), Low: wall, High: wall}, nil), "from the future")
	require.Empty(t, c.HandleSample(start, &Sample{Source: 1, At: start, Low: wall, High: wall + Time(3*MaxError)}, nil))
	f := Forwarded{Count: 1, List: [MaxForwarded]Sample{{Source: 1, At: start, Low: wall, High: wall}}}
	require.Empty(t, c.HandleForwarded(start, 2, &f, 1, 0, nil), "an empty interval")
	require.Empty(t, c.HandleUTC(start, &UTC{State: UTCKnown, At: start, Low: wall, High: wall}, 0, 0, nil), "a leader knows better")
	require.Equal(t, UnknownBound, c.Read(start).UTCBound)
}

func TestAFollowerAdoptsTheUTCOfItsLeader(t *testing.T) {
	l := utcLeader()
	says(l, 1, start, 0, time.Millisecond, NoLeap)
	line := announced(t, l, start, start.Add(80*time.Millisecond))
	u, ok := announcedUTC(l, start)
	require.True(t, ok)
	f := New(utcConfig(2), start, wall)
	f.HandleLine(start, &line, -100*time.Microsecond, 100*time.Microsecond, nil)
	out := f.HandleUTC(start, &u, -100*time.Microsecond, 100*time.Microsecond, nil)
	require.Equal(t, []Kind{UTCChanged}, kinds(out))
	r := f.Read(start)
	require.Equal(t, External, r.Status)
	require.InDelta(t, float64(1100*time.Microsecond), float64(r.UTCBound), 1000, "wider by the offset")
	out = f.HandleUTC(start, &UTC{State: UTCDisputed}, 0, 0, nil)
	require.Equal(t, []Kind{UTCChanged}, kinds(out))
	require.Equal(t, Internal, f.Read(start).Status)
}

// The age of a forwarded sample counts on this node's clock, however far that of the
// sender is off.
func forwardedSamplesAge(t testing.TB) {
	now := start.Add(2 * time.Hour)
	for _, off := range []time.Duration{-time.Hour, time.Hour} {
		c := utcLeader()
		f := Forwarded{Count: 1, List: [MaxForwarded]Sample{{Source: 1, At: now.Add(off), Low: wall, High: wall}}}
		c.HandleForwarded(now, 3, &f, off, off, nil)
		require.Len(t, c.References(now), 1)
		require.InDelta(t, 0, float64(c.References(now)[0].Age), float64(time.Millisecond))
		for after, count := range map[time.Duration]int{SampleLife: 1, SampleLife + time.Second: 0} {
			d := utcLeader()
			d.HandleForwarded(now, 3, &f, off, off, nil)
			d.HandleForwarded(now.Add(SampleLife/2), 3, &f, off, off, nil) // again
			for _, r := range d.References(now.Add(after)) {
				require.InDelta(t, float64(after), float64(r.Age), float64(time.Millisecond), "of the sample, not of its repetition")
			}
			d.Steer(now.Add(after), nil)
			require.Len(t, d.References(now.Add(after)), count)
		}
	}
}

func TestForwardedSamplesAge(t *testing.T) { forwardedSamplesAge(t) }
