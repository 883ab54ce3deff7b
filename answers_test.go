package failaware

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/loop"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// leading is a snapshot with a lease and a view until an instant.
func leading(until timed.Instant, era uint32) *loop.Snapshot {
	self := timed.Incarnation{Node: 1, Boot: 7}
	return &loop.Snapshot{Snapshot: stack.Snapshot{Self: self, Leading: true, Expiration: until,
		View: &membership.View{}, ValidUntil: until}, Era: era, Phase: &loop.Phase{Leads: true, Over: make(chan struct{})}}
}

// race lets a reader load a snapshot with a lease until 100. Then the loop gives the
// lease up and publishes, and only then the reader reads its clock, which shows 50.
// (The others heard of it at 20, and one of them may lead.)
func race() (LeaderAnswer, ViewAnswer) {
	published := leading(100, 0)
	load := func() *loop.Snapshot { return published }
	read := func() hwclock.Reading {
		published = &loop.Snapshot{Snapshot: stack.Snapshot{Self: published.Self}}
		return hwclock.Reading{Now: 50}
	}
	l := leaderFrom(load, read)
	published = leading(100, 0)
	return l, viewFrom(load, read)
}

// docs/internals/protocol.md, "Answers that race with the clock".
func TestAnswerNeverOutlivesAPublishedAbdication(t *testing.T) {
	l, v := race()
	require.False(t, l.Leads || l.UpToDate)
	require.False(t, v.UpToDate)
}

func TestAnswersReadTheClock(t *testing.T) {
	s := leading(100, 3)
	load := func() *loop.Snapshot { return s }
	at := func(now timed.Instant, era uint32) func() hwclock.Reading {
		return func() hwclock.Reading { return hwclock.Reading{Now: now, Era: era} }
	}
	a := leaderFrom(load, at(99, 3))
	require.True(t, a.Leads && a.UpToDate)
	require.Equal(t, NodeID(1), a.Leader)
	require.Equal(t, time.Duration(1), a.AtMost)
	require.False(t, leaderFrom(load, at(100, 3)).Leads, "the lease has run out")
	require.False(t, leaderFrom(load, at(99, 4)).UpToDate, "the machine slept")
	require.True(t, viewFrom(load, at(99, 3)).UpToDate)
	require.False(t, viewFrom(load, at(100, 3)).UpToDate)
	require.False(t, viewFrom(load, at(99, 4)).UpToDate)
	require.NotNil(t, viewFrom(load, at(99, 4)).View)

	s = &loop.Snapshot{Snapshot: stack.Snapshot{Self: s.Self, Following: timed.Incarnation{Node: 2, Boot: 9}, LockedUntil: 100}}
	a = leaderFrom(load, at(60, 0))
	require.Equal(t, LeaderAnswer{Leader: 2, Boot: 9, UpToDate: true, AtMost: 40, AsOf: 60}, a)
	require.Equal(t, LeaderAnswer{AsOf: 100}, leaderFrom(load, at(100, 0)))

	s = &loop.Snapshot{Snapshot: stack.Snapshot{Self: s.Self, Following: s.Self, LockedUntil: 100}}
	require.Equal(t, LeaderAnswer{AsOf: 60}, leaderFrom(load, at(60, 0)), "a candidate's vote for itself is no leader")
}

// A global answer is of the global lease, which may begin later than the local one and end
// earlier.
func TestGlobalAnswersAreOfTheGlobalLease(t *testing.T) {
	s := leading(100, 0)
	s.Global, s.GlobalUntil, s.Phase.Since = true, 80, 10
	s.GlobalPhase = &loop.Phase{Leads: true, Since: 20}
	load := func() *loop.Snapshot { return s }
	for now, leads := range map[timed.Instant]bool{79: true, 80: false} {
		a := globalFrom(load, func() hwclock.Reading { return hwclock.Reading{Now: now} })
		require.Equal(t, leads, a.Leads)
		if leads {
			require.Equal(t, timed.Instant(20), a.Since)
			require.Equal(t, time.Duration(1), a.AtMost)
		}
		require.True(t, leaderFrom(load, func() hwclock.Reading { return hwclock.Reading{Now: now} }).Leads)
	}
}

// edictsEndWithTheLease asks for the stamps of edicts and timestamps just before the end of the
// global lease, and at it. The local lease outlasts it.
func edictsEndWithTheLease(t testing.TB) {
	s := leading(100, 0)
	s.Global, s.GlobalUntil, s.Stamps = true, 80, &leader.QuorumStamp{Epoch: 1}
	require.Equal(t, s.Stamps, stampsAt(s, 79))
	require.Nil(t, stampsAt(s, 80))
	s.Global = false
	require.Nil(t, stampsAt(s, 79), "the lead was given up")
}

func TestEdictsEndWithTheLease(t *testing.T) { edictsEndWithTheLease(t) }

// Boot and Since name one uninterrupted lead, in answers and in holds.
func TestAnswersNameTheLead(t *testing.T) {
	n := startNode(t, Config{ID: 1})
	before := n.Instant()
	require.Equal(t, ViewID{}, n.View().View.ID, "empty before the first view, and not nil")
	waitElected(t, n)
	first := n.Leader()
	hold, err := n.Hold(t.Context())
	require.NoError(t, err)
	require.Equal(t, Incarnation{Node: first.Leader, Boot: first.Boot}, hold.By)
	require.Equal(t, first.Since, hold.Since)
	require.Positive(t, hold.ValidFor())
	require.Greater(t, first.Since, before)
	require.GreaterOrEqual(t, first.AsOf, first.Since)
	require.GreaterOrEqual(t, n.Leader().AsOf, first.AsOf)
	require.NoError(t, n.Resign(t.Context()))
	waitElected(t, n)
	second := n.Leader()
	require.Equal(t, first.Boot, second.Boot)
	require.Greater(t, second.Since, first.Since, "another lead")
}

// A reader that never finds the snapshot at rest says no.
func TestAnswersGiveUpAfterAFewTries(t *testing.T) {
	loads := 0
	l := leaderFrom(func() *loop.Snapshot { loads++; return leading(100, 0) }, func() hwclock.Reading { return hwclock.Reading{Now: 1} })
	require.False(t, l.UpToDate)
	require.LessOrEqual(t, loads, 2*tries)
}

// A clock whose snapshot is never at rest claims nothing, though each snapshot says that it is
// synchronized.
func restlessClocksClaimNothing(t testing.TB) {
	n := startNode(t, Config{ID: 1})
	eventually(t, "synchronized", func() bool { return n.Clock().Status > 0 })
	s := n.loop.Snapshot()
	loads := 0
	r := clockFrom(func() *loop.Snapshot {
		loads++
		next := *s
		return &next
	}, func() hwclock.Reading { return hwclock.Reading{Now: n.Instant(), Era: s.Era} })
	require.Greater(t, loads, 2*tries)
	require.Zero(t, r.Status)
	require.Equal(t, clocksync.UnknownBound, r.Deviation)
	require.Equal(t, clocksync.UnknownBound, r.UTCBound)
}

func TestRestlessClocksClaimNothing(t *testing.T) { restlessClocksClaimNothing(t) }

func TestAnswersDoNotAllocate(t *testing.T) {
	n := startNode(t, Config{ID: 1})
	waitElected(t, n)
	require.NoError(t, n.Close()) // the loop allocates
	for name, f := range map[string]func(){
		"Leads": func() { n.Leads() }, "View": func() { n.View() }, "Clock": func() { n.Clock() },
	} {
		require.Zero(t, testing.AllocsPerRun(100, f), name)
	}
}

func TestClockIsSynchronizedAndClaimsNothingAfterASuspend(t *testing.T) {
	nodes := startGroup(t, 2)
	eventually(t, "synchronized", func() bool {
		a, b := nodes[0].Clock(), nodes[1].Clock()
		return a.Status > 0 && b.Status > 0 && a.Timeline == b.Timeline
	})
	s := *nodes[0].loop.Snapshot()
	s.Era--
	r := clockFrom(func() *loop.Snapshot { return &s }, nodes[0].clock.Read)
	require.Zero(t, r.Status)
	require.Equal(t, clocksync.UnknownBound, r.Deviation)
}

// A reader that is given the time of another one, because its own comes before that, has a wider
// bound. The status says no more than the bound allows.
func TestAWiderBoundHasALowerStatus(t *testing.T) {
	n := startNode(t, Config{ID: 1})
	eventually(t, "synchronized", func() bool { return n.Clock().Status > 0 })
	s := *n.loop.Snapshot()
	s.Shown, s.Trust = new(atomic.Int64), nil // the node goes on, and this reading stays
	now := hwclock.Reading{Now: n.Instant(), Era: s.Era}
	read := func() Reading {
		return clockFrom(func() *loop.Snapshot { return &s }, func() hwclock.Reading { return now })
	}
	at := read()
	require.Equal(t, clocksync.Internal, at.Status)
	shown := at.Time + clocksync.Time(n.Config().Clock.MaxDeviation) + 1
	s.Shown.Store(int64(shown))
	ahead := read()
	require.Equal(t, shown, ahead.Time)
	require.Greater(t, ahead.Deviation, n.Config().Clock.MaxDeviation)
	require.Equal(t, clocksync.Unsynchronized, ahead.Status)
}

func benchNode(b *testing.B) *Node {
	n := startNode(b, Config{ID: 1, Timing: LAN()})
	waitElected(b, n)
	b.ReportAllocs()
	return n
}

func BenchmarkNow(b *testing.B) {
	for n := benchNode(b); b.Loop(); {
		n.Clock()
	}
}

// BenchmarkNowSingle shows the median and the 99th percentile of single calls, by
// the differences of what they return.
func BenchmarkNowSingle(b *testing.B) {
	n := benchNode(b)
	took := make([]float64, 0, 1<<20)
	last := n.Clock().Time
	for b.Loop() {
		now := n.Clock().Time
		if len(took) < cap(took) {
			took = append(took, float64(now-last))
		}
		last = now
	}
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2], "p50-ns")
	b.ReportMetric(took[len(took)*99/100], "p99-ns")
}

func BenchmarkLeads(b *testing.B) {
	for n := benchNode(b); b.Loop(); {
		n.Leads()
	}
}

func BenchmarkView(b *testing.B) {
	for n := benchNode(b); b.Loop(); {
		n.View()
	}
}

func BenchmarkLeaderContextErr(b *testing.B) {
	n := benchNode(b)
	ctx, cancel, err := n.Lead(b.Context())
	require.NoError(b, err)
	defer cancel()
	for b.Loop() {
		_ = ctx.Err()
	}
}
