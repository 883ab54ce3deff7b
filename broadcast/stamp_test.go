package broadcast

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/timed"
)

// promiseHolds reports whether a header keeps its promise about a message that was
// stamped before the header and is sent after it.
func promiseHolds() bool {
	g := newTrio(2, Config{})
	s := g.nodes[0]
	if _, err := s.Broadcast(clocksync.Reading{Time: 1000}, nil, Options{Order: TimedOrder, Atomicity: WeakAtomicity}); err != nil {
		return false
	}
	return s.header(clocksync.Reading{Time: 2000}).Floor <= 1000
}

func TestAHeaderPromisesNothingOverWhatWaits(t *testing.T) { require.True(t, promiseHolds()) }

// Stamps never run back and never fall below a promise. The deviation includes the
// correction.
func TestStampsOnlyGrow(t *testing.T) {
	s := New(Config{Self: incarnation(0)})
	stamp, dev := s.stampNow(clocksync.Reading{Time: 1000, Deviation: 5})
	require.Equal(t, clocksync.Time(1000), stamp)
	require.EqualValues(t, 5, dev)
	stamp, dev = s.stampNow(clocksync.Reading{Time: 900, Deviation: 5})
	require.Equal(t, clocksync.Time(1000), stamp)
	require.EqualValues(t, 105, dev)
	_, dev = s.stampNow(clocksync.Reading{Time: 900, Deviation: clocksync.UnknownBound})
	require.Equal(t, clocksync.UnknownBound, dev)
}

// timedSoon has all three machines broadcast Timed messages one after the other, and
// returns how many come late: not within a time.
func (t *trio) timedSoon(rounds int, within time.Duration) (late int) {
	for range rounds {
		for i := range t.nodes {
			before := t.count[0]
			if _, err := t.cast(i, []byte("x"), Options{TimedOrder, WeakAtomicity}); err != nil {
				return late + 1
			}
			t.run(within)
			if t.count[0] == before {
				late++
			}
		}
	}
	return late
}

// aFewPeriods is how long a Timed message waits for the promises of all members.
var aFewPeriods = 3 * timed.LAN().KeepalivePeriod

// timedFarApart has machines whose clocks are ahead by these times broadcast Timed
// messages.
func timedFarApart(ahead [3]time.Duration) (g *trio, late int) {
	g = newTrio(3, Config{})
	g.keep, g.ahead = true, ahead
	g.run(aFewPeriods) // with promises of all
	return g, g.timedSoon(20, aFewPeriods)
}

// Clocks that are far apart, because they have not been synchronized yet, hold up
// nothing.
func TestClocksThatAreFarApartHoldUpNothing(t *testing.T) {
	for _, ahead := range [][3]time.Duration{{2: time.Hour}, {2: -time.Hour}, {0: time.Hour}, {0: -time.Hour}, {-time.Minute, 0, time.Minute}} {
		g, late := timedFarApart(ahead)
		require.Zero(t, late, "%v", ahead)
		for i := range g.nodes {
			require.Equal(t, g.payloads[0], g.payloads[i])
			for k, d := range g.delivered[i] {
				require.GreaterOrEqual(t, d.Deviation, ahead[d.Sender-1]-ahead[0]-g.nodes[0].leeway(), "the error of the clock is in the deviation")
				if k > 0 {
					require.GreaterOrEqual(t, d.Stamp, g.delivered[i][k-1].Stamp)
				}
			}
		}
	}
}

// The clock of the leader is group time. When it is set back, it counts from where it
// was.
func followsTheLeaderBack(t testing.TB) bool {
	for _, by := range []time.Duration{time.Second, time.Hour} {
		g := newTrio(3, Config{})
		g.run(aFewPeriods)
		g.ahead[0] = -by
		if g.timedSoon(5, aFewPeriods) > 0 {
			return false
		}
		g.ahead[1], g.ahead[2] = -by, -by
		if g.timedSoon(5, aFewPeriods) > 0 {
			return false
		}
	}
	return true
}

func TestALeaderWhoseClockIsSetBackHoldsUpNothing(t *testing.T) {
	require.True(t, followsTheLeaderBack(t))
}

// backFromTheFuture returns a trio whose third node has led a view of its own an hour ahead. Its
// clock is right again in a view with the others, and a message is left over from before.
func backFromTheFuture(t testing.TB) *trio {
	g := newTrio(3, Config{})
	g.keep = true
	g.install(viewOf(2, 0, 1))
	g.ahead[2] = time.Hour
	g.install(viewOf(3, 2))
	g.run(aFewPeriods)
	v := viewOf(4, 0, 1, 2)
	g.nodes[2].Freeze(g.now, v, false)
	_, err := g.cast(2, []byte("left over"), Options{TimedOrder, WeakAtomicity})
	require.NoError(t, err)
	g.ahead[2] = 0
	g.install(v)
	return g
}

// A node that leads a view of its own an hour ahead, and has messages left over from
// it, holds up nobody when its clock is set right in a view with others.
func recoversFromTheFuture(t testing.TB) bool {
	g := backFromTheFuture(t)
	g.run(g.nodes[0].leeway() + aFewPeriods)
	if g.count[0] != 1 || g.timedSoon(20, aFewPeriods) > 0 {
		return false
	}
	last := g.delivered[0][len(g.delivered[0])-1]
	return last.Sender == 3 && last.Deviation < time.Second
}

func TestAClockThatWasAheadHoldsUpNothing(t *testing.T) { require.True(t, recoversFromTheFuture(t)) }

// Whatever a member has promised or stamped, the others go on, and are told.
func neverWaitsForTheFuture(t testing.TB) bool {
	g := newTrio(3, Config{})
	g.nodes[2].floor = 1 << 61
	_, err := g.cast(2, []byte("timed"), Options{TimedOrder, WeakAtomicity})
	require.NoError(t, err)
	sent := 1
	for range 8000 {
		if _, err := g.cast(0, make([]byte, 100), Options{TotalOrder, WeakAtomicity}); err == nil {
			sent++
		}
		g.run(500 * time.Microsecond)
	}
	g.run(g.nodes[0].leeway() + aFewPeriods)
	told := 0
	for i := range g.effects {
		if e := &g.effects[i]; e.Kind == Ahead && e.Peer == 3 && e.By > time.Hour {
			told++
		}
	}
	return sent == 8001 && told == 3 && slices.Equal(g.count, []int{sent, sent, sent})
}

func TestAStampInTheFutureHoldsUpNothing(t *testing.T) { require.True(t, neverWaitsForTheFuture(t)) }

// The decisions that cut stamps are counted in each view anew.
func cutsInEachView(t testing.TB) bool {
	g := newTrio(3, Config{})
	sent := 0
	for _, before := range []int{50, 0} {
		for range before {
			_, err := g.cast(0, []byte("total"), Options{TotalOrder, WeakAtomicity})
			require.NoError(t, err)
			sent++
			g.run(time.Millisecond)
		}
		g.nodes[2].floor = 1 << 61
		_, err := g.cast(2, []byte("timed"), Options{TimedOrder, WeakAtomicity})
		require.NoError(t, err)
		sent++
		g.run(g.nodes[0].leeway() + aFewPeriods)
		if !slices.Equal(g.count, []int{sent, sent, sent}) {
			return false
		}
		g.install(viewOf(2, 0, 1, 2))
	}
	return true
}

func TestStampsInTheFutureAreCutInEachView(t *testing.T) { require.True(t, cutsInEachView(t)) }

// keepsItsOrder reports whether the messages of a sender keep their order when its clock is
// set back while a message of an earlier view waits, and whether the deviation of a stamp
// says how far it was moved for that.
func keepsItsOrder(t testing.TB) bool {
	g := backFromTheFuture(t)
	at := clocksync.Time(g.now)
	_, err := g.cast(2, []byte("next"), Options{TimedOrder, WeakAtomicity})
	require.NoError(t, err)
	g.run(g.nodes[0].leeway() + aFewPeriods)
	if !slices.Equal(g.payloads[0], []string{"left over", "next"}) {
		return false
	}
	d := g.delivered[0][1]
	return d.Stamp > at && d.Stamp.Sub(at) <= d.Deviation
}

func TestASenderWhoseClockIsSetBackKeepsItsOrder(t *testing.T) { require.True(t, keepsItsOrder(t)) }

// waitsAtTheFloor reports whether a Timed message waits while one with the same stamp may
// still come, from a member that is before its sender, and whether a cut leaves the stamps
// that are near as they are.
func waitsAtTheFloor() bool {
	s := newTrio(3, Config{}).nodes[0]
	st := s.members[2].stream(ClassOrdered)
	st.put(&s.arena, &Run{Sender: 3, Boot: st.boot, Class: ClassOrdered, Options: Options{TimedOrder, WeakAtomicity}, First: 1, Count: 1, Size: 1,
		Payload: []byte("x"), Begins: true, Ends: true, Stamp: 55}, 16)
	decide := func(number uint64, floor clocksync.Time, leeway time.Duration, ranges ...Range) {
		s.handleDecision(0, &Decision{Number: number, Floor: floor, Leeway: leeway, Ranges: ranges})
		s.deliverOrdered(false)
	}
	decide(1, 45, 0, Range{Member: 2, Class: ClassOrdered, To: 1})
	decide(2, 50, 10)
	decide(3, 55, 0)
	if len(s.deliveries) > 0 {
		return false
	}
	decide(4, 56, 0)
	return len(s.deliveries) == 1 && s.deliveries[0].Stamp == 55 && s.deliveries[0].Deviation == 0
}

func TestATimedMessageWaitsForItsEquals(t *testing.T) { require.True(t, waitsAtTheFloor()) }

// cutsOnce reports whether a stamp that was cut asks for no other cut, although its message
// still waits.
func cutsOnce() bool {
	s := newTrio(3, Config{}).nodes[0]
	st := s.members[2].stream(ClassOrdered)
	st.put(&s.arena, &Run{Sender: 3, Boot: st.boot, Class: ClassOrdered, Options: Options{TimedOrder, WeakAtomicity}, First: 1, Count: 1, Size: 1,
		Payload: []byte("x"), Begins: true, Ends: true, Stamp: 1 << 61}, 16)
	s.handleDecision(0, &Decision{Number: 1, Floor: 45, Ranges: []Range{{Member: 2, Class: ClassOrdered, To: 1}}})
	s.deliverOrdered(false)
	asked := s.stampsAhead()
	s.handleDecision(0, &Decision{Number: 2, Floor: 50, Leeway: s.leeway()})
	s.deliverOrdered(false)
	return asked && len(s.deliveries) == 0 && !s.stampsAhead()
}

func TestAStampIsCutOnce(t *testing.T) { require.True(t, cutsOnce()) }

// pauseCutsNothing has a member of a group at rest broadcast a Timed message in a packet of
// its own, ahead of another message, whose packet is lost.
func pauseCutsNothing(t testing.TB) bool {
	g := newTrio(3, Config{PacketBytes: MinPacketBytes})
	g.keep = true
	if g.timedSoon(1, aFewPeriods) > 0 {
		return false
	}
	g.run(3 * g.nodes[0].leeway())
	lost := 0
	g.drop = func(_, _ int, p *Packet) bool {
		if lost < 2 && len(p.Runs) > 0 && p.Runs[0].Options.Order == TotalOrder {
			lost++
			return true
		}
		return false
	}
	at := clocksync.Time(g.now)
	for _, order := range []Order{TimedOrder, TotalOrder} {
		_, err := g.cast(1, make([]byte, MinPacketBytes), Options{order, WeakAtomicity})
		require.NoError(t, err)
	}
	g.run(aFewPeriods)
	d := g.delivered[0]
	return lost == 2 && len(d) == 5 && d[3].Stamp == at && !slices.ContainsFunc(g.effects, func(e Effect) bool { return e.Kind == Ahead })
}

func TestAPauseCutsNoStamps(t *testing.T) { require.True(t, pauseCutsNothing(t)) }
