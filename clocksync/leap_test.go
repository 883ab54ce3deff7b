package clocksync

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/timed"
)

// leapWorld is a node around a leap second. All clocks are exact.
type leapWorld struct {
	c    *Sync
	leap Leap
	now  time.Duration // since the leap second
	held []Sample      // of a follower, on their way
}

var leapEnd = Time(time.Date(2026, time.July, 1, 0, 0, 0, 0, time.UTC).UnixNano())

// utc returns UTC, and what servers announce.
func (w *leapWorld) utc() (Time, Leap) {
	if w.now < 0 {
		return leapEnd + Time(w.now), w.leap
	}
	return leapEnd + Time(w.now) + map[Leap]Time{LeapInsert: -1e9, LeapDelete: 1e9}[w.leap], NoLeap
}

func (w *leapWorld) at() timed.Instant { return start.Add(time.Hour + w.now) }

func (w *leapWorld) sample(t *rapid.T) Sample {
	utc, leap := w.utc()
	return Sample{SourceID(rapid.IntRange(1, 3).Draw(t, "source")), w.at(), utc - 1e6, utc + 1e6, leap}
}

// Whatever a node was before a leap second, and whatever it hears around it, the bound of
// its reading holds UTC.
func leapsHold(t testing.TB) {
	known := 0
	rapid.Check(t, func(t *rapid.T) {
		w := &leapWorld{leap: rapid.SampledFrom([]Leap{LeapInsert, LeapDelete}).Draw(t, "leap"), now: -9 * time.Minute}
		cfg := utcConfig(1)
		cfg.MinReferences = rapid.IntRange(1, 3).Draw(t, "least")
		began, _ := w.utc()
		w.c = New(cfg, w.at(), began)
		told := rapid.Bool().Draw(t, "told") // of UTC by the other leader
		line := Line{Timeline: TimelineID{Leader: 2, Boot: 2, Sequence: 1}, Base: w.at(), Shown: began}
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				w.now += time.Duration(rapid.IntRange(0, 90).Draw(t, "seconds")) * time.Second
				utc, _ := w.utc()
				if r := w.c.Read(w.at()); r.UTCBound != UnknownBound {
					known++
					require.LessOrEqual(t, r.Time.Sub(utc).Abs(), r.UTCBound, "%v after the leap second", w.now)
				}
			},
			"sample": func(t *rapid.T) {
				s := w.sample(t)
				w.c.HandleSample(w.at(), &s, nil)
			},
			"lead":  func(t *rapid.T) { w.c.HandleLead(w.at(), nil) },
			"steer": func(t *rapid.T) { w.c.Steer(w.at(), nil) },
			"follow": func(t *rapid.T) {
				l := line
				l.Until = w.at().Add(time.Minute)
				w.c.HandleLine(w.at(), &l, 0, 0, nil)
				if utc, leap := w.utc(); told && w.now.Abs() > LeapMargin {
					w.c.HandleUTC(w.at(), &UTC{State: UTCKnown, At: w.at(), Low: utc, High: utc, Leap: leap}, 0, 0, nil)
				}
			},
			"hold": func(t *rapid.T) { w.held = append(w.held, w.sample(t)) },
			"forward": func(t *rapid.T) {
				for _, s := range w.held {
					if w.at().Sub(s.At) <= SampleLife {
						w.c.HandleForwarded(w.at(), 3, &Forwarded{1, [MaxForwarded]Sample{s}}, 0, 0, nil)
					}
				}
				w.held = nil
			},
		})
	})
	require.NotZero(t, known, "a node knows UTC")
}

func TestReadingsHoldUTCAroundALeapSecond(t *testing.T) { leapsHold(t) }

// A node that knows no UTC comes to the leap second that its references announce all the same.
func leapOfUnknownUTC(t testing.TB) {
	known := func(c *Sync, w *leapWorld) bool { return c.Read(w.at()).UTCBound != UnknownBound }
	sample := func(c *Sync, w *leapWorld, source SourceID) {
		utc, leap := w.utc()
		c.HandleSample(w.at(), &Sample{source, w.at(), utc - 1e6, utc + 1e6, leap}, nil)
	}
	w := &leapWorld{leap: LeapInsert, now: -LeapMargin - time.Minute}
	began, _ := w.utc()

	follower := New(utcConfig(1), w.at(), began)
	sample(follower, w, 1)
	cfg := utcConfig(1)
	cfg.MinReferences = 3
	leader := New(cfg, w.at(), began)
	leader.HandleLead(w.at(), nil)
	sample(leader, w, 1)
	sample(leader, w, 2)
	w.now = -time.Minute
	utc, leap := w.utc()
	old := Sample{4, w.at(), utc, utc, leap}

	w.now = time.Minute
	follower.HandleLead(w.at(), nil)
	require.False(t, known(follower, w), "its sample is from before the leap second")
	for source := range SourceID(4) {
		sample(leader, w, source)
	}
	require.False(t, known(leader, w), "a majority has announced the leap second")
	w.now = LeapMargin + time.Minute
	newcomer := New(utcConfig(1), w.at(), began)
	newcomer.HandleLead(w.at(), nil)
	newcomer.HandleForwarded(w.at(), 3, &Forwarded{1, [MaxForwarded]Sample{old}}, 0, 0, nil)
	require.False(t, known(newcomer, w), "the sample of its follower is from before the leap second")
	for source := range SourceID(4) {
		sample(leader, w, source)
	}
	require.True(t, known(leader, w))
	require.Equal(t, 3, leader.sources.steer.n, "samples of before the leap second count no more")
}

func TestALeapSecondComesToANodeThatKnowsNoUTC(t *testing.T) { leapOfUnknownUTC(t) }

// What is known of UTC when a leap second comes has a width. No sample counts before its slowest end is
// behind the margin.
func awaitsTheSlowest(t testing.TB) {
	rho := timed.LAN().MaxDrift
	const at, now = Time(time.Hour), timed.Instant(time.Minute)
	i := interval{at: now, low: at - Time(LeapMargin+10*time.Second), high: at - Time(LeapMargin)}
	var r references
	r.awaitLeap(now, at, i, rho)
	require.GreaterOrEqual(t, i.project(r.leapOver, rho).low, at+Time(LeapMargin))
	require.Less(t, i.project(r.leapOver, rho).low, at+Time(LeapMargin+time.Second))
}

func TestALeapSecondIsOverForTheSlowest(t *testing.T) { awaitsTheSlowest(t) }
