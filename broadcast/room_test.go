package broadcast

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/clocksync"
)

var (
	total     = Options{TotalOrder, WeakAtomicity}
	unordered = Options{Unordered, WeakAtomicity}
)

// roomAfter floods a group of five with small messages of some options, from a member
// that also tries to broadcast a large one, and returns after which time the large one
// is taken, at most a second.
func roomAfter(t testing.TB, large int, opt Options, flood ...Options) time.Duration {
	g := newTrio(5, Config{})
	for begin := g.now; g.now.Sub(begin) < time.Second; g.run(500 * time.Microsecond) {
		g.fill(t, flood...)
		if _, err := g.cast(0, make([]byte, large), opt); err == nil {
			return g.now.Sub(begin)
		}
	}
	return time.Second
}

// fill has the first machine broadcast until its window is full.
func (t *trio) fill(tb testing.TB, flood ...Options) {
	for _, opt := range flood {
		for {
			if _, err := t.cast(0, make([]byte, 200), opt); err != nil {
				require.ErrorIs(tb, err, ErrWindowFull)
				break
			}
		}
	}
}

// largeGetsRoom reports whether a payload of MaxPayload gets its room among small
// messages of its own class.
func largeGetsRoom(t testing.TB) bool {
	return roomAfter(t, DefaultMaxPayload, total, total) < time.Second
}

// orderedGetsRoom does the same among messages of the other class.
func orderedGetsRoom(t testing.TB) bool { return roomAfter(t, 1000, total, unordered) == 0 }

func TestEveryPayloadGetsItsRoom(t *testing.T) {
	require.True(t, largeGetsRoom(t))
	require.True(t, orderedGetsRoom(t), "an empty lane has room at once")
	for _, opt := range []Options{total, unordered} {
		for _, flood := range [][]Options{{total}, {unordered}, {total, unordered}, {unordered, total}} {
			require.Less(t, roomAfter(t, DefaultMaxPayload, opt, flood...), time.Second, "%v among %v", opt, flood)
		}
	}
}

// underLoad fills the share of a machine with Unordered messages, while nothing becomes
// stable, then with Total ones, and keeps both full. It returns how much of the share the
// classes have had: the first alone, the second after it, and both at the end.
func underLoad(t testing.TB) (alone, after float64, both [classes]float64) {
	g := newTrio(4, Config{})
	g.drop = func(int, int, *Packet) bool { return true }
	part := func(c Class) float64 { return float64(g.nodes[0].stream(c).bytes) / float64(g.nodes[0].share()) }
	g.fill(t, unordered)
	alone = part(ClassUnordered)
	g.fill(t, total)
	after = part(ClassOrdered)
	g.drop = nil
	for range 100 {
		g.run(500 * time.Microsecond)
		g.fill(t, unordered, total)
	}
	return alone, after, [classes]float64{part(ClassUnordered), part(ClassOrdered)}
}

// dividesEqually reports whether both classes have half of the share under load.
func dividesEqually(t testing.TB) bool {
	_, _, both := underLoad(t)
	return both[ClassUnordered] > 0.45 && both[ClassUnordered] <= 0.5 && both[ClassOrdered] > 0.45
}

// Both classes under load get half of the share each. One alone gets all of it.
func TestClassesShareTheWindow(t *testing.T) {
	alone, after, _ := underLoad(t)
	require.InDelta(t, 1, alone, 0.01)
	require.InDelta(t, 0.5, after, 0.01, "although the other class has taken all")
	require.True(t, dividesEqually(t))
}

// A caller that was refused and does not come again holds up nobody.
func forgetsClaims() bool {
	g := newTrio(4, Config{Window: 1 << 16, MaxPayload: 1 << 15})
	if _, err := g.cast(0, nil, total); err != nil {
		return false
	}
	if _, err := g.cast(0, make([]byte, 1<<15), total); err == nil {
		return false
	}
	for range 100 {
		if _, err := g.cast(0, make([]byte, 100), total); err == nil {
			return true
		}
		g.run(500 * time.Microsecond)
	}
	return false
}

func TestAClaimThatNobodyRepeatsEnds(t *testing.T) { require.True(t, forgetsClaims()) }

// Whatever sizes two classes have, each message gets its room within a bounded time,
// and the window is never exceeded by more than half and one message of each class.
func TestNoSizesStarveOthers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := Config{Window: rapid.IntRange(MinWindow, 1<<16).Draw(t, "window"), MaxPayload: 1 << 14, PacketBytes: 1000}
		g := newTrio(rapid.IntRange(2, 5).Draw(t, "members"), cfg)
		size := func(name string) int { return rapid.IntRange(0, cfg.MaxPayload).Draw(t, name) }
		sizes := [classes][]int{{size("unordered"), size("another")}, {size("ordered"), size("another")}}
		s := g.nodes[0]
		sent, since := [classes]int{}, [classes]time.Duration{}
		for range 400 {
			for c, opt := range [classes]Options{unordered, total} {
				for err := error(nil); err == nil; {
					if _, err = g.cast(0, make([]byte, sizes[c][sent[c]%2]), opt); err == nil {
						sent[c]++
						since[c] = 0
					}
				}
			}
			a, b := &s.streams[1][ClassUnordered], &s.streams[1][ClassOrdered]
			require.LessOrEqual(t, a.bytes+b.bytes, s.share()*3/2+2*(cfg.MaxPayload+17*perMessage))
			g.run(500 * time.Microsecond)
			for c := range since {
				since[c] += 500 * time.Microsecond
				require.Less(t, since[c], 200*time.Millisecond, "class %d waits", c)
			}
		}
	})
}

// windowMovesOn reports whether the window has room for as many messages after many others
// as in the beginning.
func windowMovesOn(t testing.TB) bool {
	const window = 4 << 10
	g := newTrio(3, Config{MaxMessages: window})
	fits := func() (n int) {
		for {
			if _, err := g.cast(0, make([]byte, 1000), total); err != nil {
				require.ErrorIs(t, err, ErrWindowFull)
				return n
			}
			n++
		}
	}
	first := fits()
	for sent := first; sent < 2*window; sent += first {
		g.run(aFewPeriods)
		if fits() != first {
			return false
		}
	}
	return true
}

func TestTheWindowMovesOn(t *testing.T) { require.True(t, windowMovesOn(t)) }

// sharesOnce reports whether the second class gets no more than its lane while the first,
// which was never refused, has most of the share.
func sharesOnce() bool {
	g := newTrio(4, Config{})
	g.drop = func(int, int, *Packet) bool { return true }
	s := g.nodes[0]
	for s.stream(ClassUnordered).bytes < s.share()*4/5 {
		if _, err := g.cast(0, make([]byte, 200), unordered); err != nil {
			return false
		}
	}
	for err := error(nil); err == nil; {
		_, err = g.cast(0, make([]byte, 200), total)
	}
	return s.stream(ClassOrdered).bytes <= s.share()/lanes
}

func TestTheWindowIsOneForBothClasses(t *testing.T) { require.True(t, sharesOnce()) }

// answersInBounds reports whether a member that asks for all that another has sent, in many
// requests, gets no more in one turn than fits the bound and one packet for each request.
func answersInBounds() bool {
	g := newTrio(2, Config{})
	g.drop = func(int, int, *Packet) bool { return true }
	s := g.nodes[0]
	for err := error(nil); err == nil; {
		_, err = g.cast(0, make([]byte, 900), total)
	}
	w := Want{Sender: 1, Boot: s.cfg.Self.Boot, Class: ClassOrdered, From: 1, To: s.own[ClassOrdered]}
	bytes := 0
	p := &Packet{Wants: []Want{w, w}}
	out := s.HandlePacket(g.now, incarnation(1), p, nil)
	for _, e := range s.answer(clocksync.Reading{}, out) {
		for i := range e.Packet.Runs {
			bytes += len(e.Packet.Runs[i].Payload)
		}
	}
	return bytes > answerBytes/2 && bytes <= answerBytes+2*DefaultPacketBytes
}

func TestAnswersAreBounded(t *testing.T) { require.True(t, answersInBounds()) }

// asksForItsFill reports whether a member asks for what it lacks when a view ends, if the
// answer that the plan has another one send is lost.
func asksForItsFill(t testing.TB) bool {
	g := newTrio(3, Config{})
	for _, i := range []int{1, 0, 0, 0} {
		_, err := g.cast(i, []byte("ordered"), unordered)
		require.NoError(t, err)
		g.run(aFewPeriods)
	}
	require.Equal(t, 2, g.nodes[1].decider, "who gets the message does not decide")
	lost := 0
	g.drop = func(_, to int, p *Packet) bool {
		if to != 2 || len(p.Runs) == 0 || lost == 2 {
			return false
		}
		lost++
		return true
	}
	_, err := g.cast(1, []byte("lost"), unordered)
	require.NoError(t, err)
	g.act(1)
	g.act(0) // which delivers it
	v := viewOf(2, 0, 1, 2)
	for i, s := range g.nodes {
		s.Freeze(g.now, v, i == 0)
	}
	g.run(aFewPeriods)
	return lost == 2 && g.nodes[0].Ready(v.ID)
}

func TestAMemberAsksForWhatItLacksAtTheEnd(t *testing.T) { require.True(t, asksForItsFill(t)) }

// keepsTheLargestClaim reports whether a smaller message that is refused leaves the room of a
// larger one, which waits, as it is.
func keepsTheLargestClaim() bool {
	s := newTrio(4, Config{}).nodes[0]
	s.stream(ClassOrdered).bytes = s.share() / lanes
	s.reservations = [classes]reservation{ClassUnordered: {bytes: 1000, frags: 1}, ClassOrdered: {bytes: 2000, frags: 1}}
	return !s.admit(ClassOrdered, 500, 1) && s.reservations[ClassOrdered].bytes == 2000
}

// A smaller message that leaves room for a larger one, which waits, does not end the wait of that one.
func TestASmallMessageEndsNoReservation(t *testing.T) {
	s := newTrio(4, Config{}).nodes[0]
	waits := reservation{bytes: 2000, frags: 1}
	s.reservations[ClassOrdered] = waits
	require.True(t, s.admit(ClassOrdered, 500, 1))
	require.Equal(t, waits, s.reservations[ClassOrdered])
	require.True(t, s.admit(ClassOrdered, waits.bytes, 1))
	require.Zero(t, s.reservations[ClassOrdered])
}

// lanesCount reports whether the number of messages under way is bounded also while one of the
// other class waits for room, so that lanes count.
func lanesCount() bool {
	g := newTrio(4, Config{MaxMessages: 16, MaxPayload: 100})
	g.nodes[0].reservations[ClassUnordered] = reservation{bytes: 1000, frags: 1}
	for n := range 17 {
		g.nodes[0].reservations[ClassUnordered].chances = 0
		if _, err := g.cast(0, nil, total); err != nil {
			return n == 16
		}
	}
	return false
}

func TestTheNumberOfMessagesIsBoundedInEachLane(t *testing.T) { require.True(t, lanesCount()) }

// shareCounts reports whether the number of messages under way is bounded while nobody waits for
// room, although all of them together need little of it.
func shareCounts() bool {
	g := newTrio(2, Config{MaxMessages: 16, MaxPayload: 100})
	for n := range 18 {
		if _, err := g.cast(0, nil, total); err != nil {
			return n == 16
		}
	}
	return false
}

func TestTheNumberOfMessagesIsBounded(t *testing.T) { require.True(t, shareCounts()) }

func TestTheLargestMessageKeepsItsRoom(t *testing.T) { require.True(t, keepsTheLargestClaim()) }
