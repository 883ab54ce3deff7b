package clocksync

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// inheritance is a group whose nodes have one clock. Node 1 leads and has three right references.
type inheritance struct {
	*Sync
	lead *Sync
	utc  func(timed.Instant) Time
}

// newInheritance returns the group after the reign of node 1 has lasted for a while. Node 2
// follows.
func newInheritance(t testing.TB, now timed.Instant, reign time.Duration) (g inheritance, end timed.Instant) {
	c, utc, start := lone(1, 1_800_000_000_000_000_000)
	cfg := c.cfg
	cfg.Self = timed.Incarnation{Node: 2, Boot: 2}
	g = inheritance{New(cfg, now, utc(now)), c, utc}
	for k := 1; k <= 3; k++ {
		asking(c, utc)(start, k, 0, NoLeap)
	}
	end = start.Add(reign)
	g.follow(t, g.lead, end)
	return g, end
}

// follow takes what a leader announces.
func (g *inheritance) follow(t testing.TB, from *Sync, now timed.Instant) {
	out := from.Announce(now, now.Add(time.Second), nil)
	require.Len(t, out, 2)
	g.HandleLine(now, &out[0].Line, 0, 0, nil)
	require.True(t, out[1].UTC.Valid())
	g.HandleUTC(now, &out[1].UTC, 0, 0, nil)
}

// proofIsInherited has the leader of three right references fail. The next one has none, or one
// that it knows to be wrong by ten seconds, and believes no falseticker alone.
func proofIsInherited(t testing.TB) {
	for _, own := range []bool{false, true} {
		g, now := newInheritance(t, timed.Instant(time.Hour), time.Second)
		wrong := func() {
			at := g.utc(now) + Time(10*time.Second)
			s := Sample{Source: 9, At: now, Low: at - 1e6, High: at + 1e6}
			if own {
				g.HandleSample(now, &s, nil)
			} else {
				g.HandleForwarded(now, 3, &Forwarded{1, [MaxForwarded]Sample{s}}, 0, 0, nil)
			}
		}
		wrong()
		g.HandleLead(now, nil)
		for range 100 {
			now = now.Add(16 * time.Second)
			wrong()
			require.Empty(t, g.Steer(now, nil), own)
			r := g.Read(now)
			require.LessOrEqual(t, r.Time.Sub(g.utc(now)).Abs(), r.UTCBound, own)
		}
		require.Equal(t, LackProvers, g.Knowledge(now).Lack)
		require.True(t, g.References(now)[0].Falseticker)
		// The others are heard again.
		for k := 1; k <= 2; k++ {
			asking(g.Sync, g.utc)(now, k, 0, NoLeap)
		}
		require.Less(t, g.Read(now).UTCBound, time.Second)
	}
}

func TestANewLeaderKnowsWhoProvedUTC(t *testing.T) { proofIsInherited(t) }

// inheritedProofEnds has leaders change while a single reference is left. A day after the others
// have proved UTC last, they are taken for retired, however often the leader changed since.
func inheritedProofEnds(t testing.TB) {
	g, now := newInheritance(t, timed.Instant(time.Hour), 20*time.Hour)
	g.HandleLead(now, nil)
	later := now.Add(3*time.Hour + 59*time.Minute)
	asking(g.Sync, g.utc)(later, 1, 0, NoLeap)
	require.Greater(t, g.Read(later).UTCBound, time.Second, "it may be the falseticker")
	h := inheritance{New(g.lead.cfg, later, g.utc(later)), g.Sync, g.utc}
	h.cfg.Self.Node = 3
	h.follow(t, g.Sync, later)
	h.HandleLead(later, nil)
	later = later.Add(2 * time.Minute)
	asking(h.Sync, h.utc)(later, 1, 0, NoLeap)
	require.Less(t, h.Read(later).UTCBound, time.Millisecond)
}

func TestAnInheritedProofEnds(t *testing.T) { inheritedProofEnds(t) }

// proofOutlastsALeap has three references until a leap second, which one of them does not apply.
// That one is heard first afterwards.
func proofOutlastsALeap(t testing.TB) {
	w := &leapWorld{leap: LeapInsert, now: -20 * time.Minute}
	began, _ := w.utc()
	w.c = New(utcConfig(1), w.at(), began)
	w.c.HandleLead(w.at(), nil)
	ask := func(k int, off time.Duration, leap Leap) {
		u, _ := w.utc()
		at := u + Time(off)
		w.c.HandleSample(w.at(), &Sample{SourceID(k), w.at(), at - 1e6, at + 1e6, leap}, nil)
		r := w.c.Read(w.at())
		require.LessOrEqual(t, r.Time.Sub(u).Abs(), r.UTCBound, "%v after the leap second", w.now)
	}
	for ; w.now < LeapMargin+2*time.Second; w.now += 2 * time.Second {
		w.c.Steer(w.at(), nil)
		if w.now < -LeapMargin-time.Minute {
			ask(1, 0, LeapInsert)
			ask(2, 0, LeapInsert)
			ask(3, 0, NoLeap)
		}
	}
	for range 20 {
		w.now += 16 * time.Second
		ask(3, time.Second, NoLeap)
		w.c.Steer(w.at(), nil)
	}
	require.Equal(t, "UTC is not known: 1 of 2 needed references have valid samples, because 3 have proved it", w.c.Knowledge(w.at()).String())
	ask(1, 0, NoLeap)
	require.NotEqual(t, External, w.c.Read(w.at()).Status, "either of the two may be right")
	ask(2, 0, NoLeap)
	require.Less(t, w.c.Read(w.at()).UTCBound, 2*time.Second)
	require.True(t, w.c.References(w.at())[0].Falseticker)
}

func TestAProofOutlastsALeapSecond(t *testing.T) { proofOutlastsALeap(t) }

// voterTells has node 2, which followed three right references, be asked for its vote by node 3, which
// has started just now and knows one that is wrong by ten seconds.
func voterTells(t testing.TB) {
	for _, leads := range []bool{false, true} { // before node 2 is heard
		g, now := newInheritance(t, timed.Instant(time.Hour), time.Second)
		cfg := g.cfg
		cfg.Self = timed.Incarnation{Node: 3, Boot: 3}
		c := New(cfg, now, g.utc(now))
		wrong := asking(c, func(at timed.Instant) Time { return g.utc(at) + Time(10*time.Second) })
		if !leads {
			wrong(now, 9, 0, NoLeap)
		}
		var announced *UTC
		if leads {
			c.HandleLead(now, nil)
			wrong(now, 9, 0, NoLeap)
			require.Equal(t, uint8(1), announce(c, now).Proved)
		}
		told := g.Tell(now, 3, announced, nil)
		require.Len(t, told, 1)
		require.Equal(t, Effect{Kind: TellUTC, Peer: 3, UTC: told[0].UTC}, told[0])
		require.Equal(t, uint8(3), told[0].UTC.Proved)
		c.HandleTold(now, &told[0].UTC, 0, 0, nil)
		c.HandleLead(now, nil)
		for range 10 {
			now = now.Add(16 * time.Second)
			wrong(now, 9, 0, NoLeap)
			c.Steer(now, nil)
			r := c.Read(now)
			require.LessOrEqual(t, r.Time.Sub(g.utc(now)).Abs(), r.UTCBound, leads)
			require.Equal(t, LackProvers, c.Knowledge(now).Lack)
		}
		require.Empty(t, g.Tell(now, 3, announce(c, now), nil), "the leader knows as much")
		require.Empty(t, g.Tell(now, 3, &UTC{State: UTCDisputed}, nil))
		// What fewer have proved says nothing to it.
		u := UTC{State: UTCKnown, At: now, Low: g.utc(now) + 1e9, High: g.utc(now) + 1e9, Proved: 3}
		before := c.Snapshot()
		require.Empty(t, c.HandleTold(now, &u, 0, 0, nil))
		require.Equal(t, before, c.Snapshot())
	}
}

func announce(c *Sync, now timed.Instant) *UTC {
	u, _ := announcedUTC(c, now)
	return &u
}

// provedByFewer has node 3, which has led alone and believes its only reference, which is wrong by ten
// seconds, lead node 2, which has followed three right ones. Node 2 keeps what it knows until node 3
// has heard of it, also if its first answers are lost.
func provedByFewer(t testing.TB) {
	g, now := newInheritance(t, timed.Instant(time.Hour), time.Second)
	cfg := g.cfg
	cfg.Self = timed.Incarnation{Node: 3, Boot: 3}
	c := New(cfg, now, g.utc(now))
	c.HandleLead(now, nil)
	for k := range 5 {
		now = now.Add(time.Second)
		asking(c, func(at timed.Instant) Time { return g.utc(at) + Time(10*time.Second) })(now, 9, 0, NoLeap)
		c.Steer(now, nil)
		u := announce(c, now)
		g.follow(t, c, now)
		told := g.Tell(now, 3, u, nil)
		r := g.Read(now)
		require.LessOrEqual(t, r.Time.Sub(g.utc(now)).Abs(), r.UTCBound, k)
		switch {
		case k < 2:
			require.EqualValues(t, 1, u.Proved)
			require.Len(t, told, 1)
		case k == 2:
			c.HandleTold(now, &told[0].UTC, 0, 0, nil)
		default:
			require.EqualValues(t, 3, u.Proved)
			require.Empty(t, told)
			r = c.Read(now)
			require.LessOrEqual(t, r.Time.Sub(g.utc(now)).Abs(), r.UTCBound, k)
		}
	}
}

func TestWhatFewerHaveProvedReplacesNothing(t *testing.T) { provedByFewer(t) }

func TestAVoterTellsWhoProvedUTC(t *testing.T) { voterTells(t) }

// proofWithoutUTC has a leader say who has proved UTC while a leap second is near, and a follower
// that has started since lead next.
func proofWithoutUTC(t testing.TB) {
	g, now := newInheritance(t, timed.Instant(time.Hour), time.Second)
	g.lead.setUTC(utcBound{}, nil)
	u := announce(g.lead, now)
	require.Equal(t, &UTC{Proved: 3, ProofAge: time.Second}, u)
	require.True(t, u.Valid())
	c := New(g.cfg, now, g.utc(now))
	require.Empty(t, c.HandleUTC(now, u, 0, 0, nil))
	own, ok := c.utc(now)
	require.True(t, ok)
	require.Equal(t, *u, own)
	c.HandleUTC(now, &UTC{Proved: 1}, 0, 0, nil)
	c.HandleLead(now, nil)
	asking(c, g.utc)(now, 1, 0, NoLeap)
	require.Equal(t, UnknownBound, c.Read(now).UTCBound, "it may be the falseticker")
	require.Equal(t, 3, c.Knowledge(now).Proved)
}

func TestAProofIsAnnouncedWithoutUTC(t *testing.T) { proofWithoutUTC(t) }
