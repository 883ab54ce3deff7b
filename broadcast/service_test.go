package broadcast

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// run lets time pass. As in a real group, each node sends its header once a keepalive
// period.
func (t *trio) run(d time.Duration) {
	for end := t.now.Add(d); t.now < end; t.now = t.now.Add(500 * time.Microsecond) {
		t.turn()
		if t.now.Sub(t.beat) < timed.LAN().KeepalivePeriod {
			continue
		}
		t.beat = t.now
		for i, s := range t.nodes {
			t.out = append(t.out[:0], Effect{Kind: Send, Packet: s.Blank(t.reading(i))})
			t.perform(i)
		}
	}
}

func TestAllCombinationsAreDeliveredEverywhere(t *testing.T) {
	for order := range Unordered + 1 {
		for atomicity := range atomicities {
			opt := Options{order, atomicity}
			g := newTrio(3, Config{})
			g.keep = true
			for i := range 30 {
				id, err := g.cast(i%3, []byte{byte(i)}, opt)
				require.NoError(t, err)
				require.Equal(t, uint64(i/3+1), id.Sequence)
				if i%4 == 0 {
					g.run(time.Millisecond)
				}
			}
			g.run(50 * time.Millisecond)
			for i := range g.nodes {
				require.Len(t, g.delivered[i], 30, "%v at node %d", opt, i)
				for k, d := range g.delivered[i] {
					require.Equal(t, opt, d.Options)
					require.False(t, d.Transitional)
					if order != Unordered {
						require.Equal(t, g.delivered[0][k].ID, d.ID, "%v", opt)
						require.Equal(t, uint64(k+1), d.Position)
					}
				}
			}
		}
	}
}

func TestPayloadsOfAnySizeArrive(t *testing.T) {
	for _, size := range []int{0, 1, DefaultPacketBytes - 1, DefaultPacketBytes, DefaultPacketBytes + 1, 10_000, DefaultMaxPayload} {
		for _, order := range []Order{Unordered, TotalOrder} {
			g := newTrio(3, Config{})
			g.keep = true
			payload := bytes.Repeat([]byte("0123456789abcde"), size/15+1)[:size]
			_, err := g.cast(1, payload, Options{Order: order, Atomicity: WeakAtomicity})
			require.NoError(t, err)
			g.run(100 * time.Millisecond)
			for i := range g.nodes {
				require.Len(t, g.payloads[i], 1, "%d bytes", size)
				require.True(t, string(payload) == g.payloads[i][0], "%d bytes", size)
			}
		}
	}
	g := newTrio(3, Config{})
	_, err := g.cast(1, make([]byte, DefaultMaxPayload+1), Options{Order: Unordered, Atomicity: WeakAtomicity})
	require.ErrorIs(t, err, ErrTooLarge)
	_, err = g.cast(1, nil, Options{Order: 3, Atomicity: WeakAtomicity})
	require.ErrorIs(t, err, ErrOptions)
}

// A sender accepts no more than its share of the window until all members have its
// messages, and holds no more than that.
func TestTheWindowIsShared(t *testing.T) {
	g := newTrio(3, Config{Window: 30_000, MaxPayload: 20_000})
	silent := true
	g.drop = func(from, to int, p *Packet) bool { return silent && (from == 2 || to == 2) }
	n := 0
	for {
		_, err := g.cast(0, make([]byte, 936), Options{Order: TotalOrder, Atomicity: WeakAtomicity})
		if err != nil {
			require.ErrorIs(t, err, ErrWindowFull)
			break
		}
		n++
		g.turn()
	}
	require.Equal(t, 10_000/(936+perMessage), n)
	_, err := g.cast(1, make([]byte, 15_000), Options{Order: TotalOrder, Atomicity: WeakAtomicity})
	require.NoError(t, err, "an empty window takes a message above the share")
	_, err = g.cast(1, nil, Options{Order: TotalOrder, Atomicity: WeakAtomicity})
	require.ErrorIs(t, err, ErrWindowFull)

	silent = false
	g.run(500 * time.Millisecond)
	require.Equal(t, n+1, g.count[2])
	for i := range g.nodes {
		for s := range g.nodes {
			require.Zero(t, g.nodes[i].streams[s+1][ClassOrdered].bytes, "stable messages are dropped")
		}
	}
	_, err = g.cast(0, nil, Options{Order: TotalOrder, Atomicity: WeakAtomicity})
	require.NoError(t, err)
}

// A node asks for a missing message after a one-way timeout, and not before, because
// packets overtake each other all the time.
func TestGapsAreAskedForLate(t *testing.T) {
	g := newTrio(2, Config{})
	lost, asked := true, []timed.Instant(nil)
	g.drop = func(from, to int, p *Packet) bool {
		if len(p.Wants) > 0 || p.Log.From > 0 {
			asked = append(asked, g.now)
		}
		return lost && from == 1
	}
	start := g.now
	_, err := g.cast(1, []byte("lost"), Options{Order: TotalOrder, Atomicity: StrictAtomicity})
	require.NoError(t, err)
	g.turn()
	lost = false
	g.run(60 * time.Millisecond)
	require.Equal(t, 1, g.count[0])
	require.Len(t, asked, 1)
	require.GreaterOrEqual(t, asked[0].Sub(start), timed.LAN().OneWayTimeout)
}

// lostTailArrives reports whether a message that the decider missed, and that no other
// message follows, is delivered.
func lostTailArrives() bool {
	g := newTrio(2, Config{})
	g.drop = func(from, to int, p *Packet) bool { return true }
	if _, err := g.cast(1, nil, Options{Order: TotalOrder, Atomicity: WeakAtomicity}); err != nil {
		return false
	}
	g.turn()
	g.drop = nil
	g.run(time.Second)
	return g.count[0] == 1
}

func TestALostTailArrives(t *testing.T) { require.True(t, lostTailArrives()) }

// A node whose application lags stops its acknowledgements, so that senders wait. It
// reports this, and finally that it must leave.
func TestASlowConsumer(t *testing.T) {
	g := newTrio(3, Config{Backlog: 1000, SlowAfter: 20 * time.Millisecond})
	s := g.nodes[2]
	s.slow.backlog = 5000 // nobody takes them
	g.run(time.Millisecond)
	before := g.nodes[0].stable[StrictAtomicity]
	_, err := g.cast(0, nil, Options{TotalOrder, StrictAtomicity})
	require.NoError(t, err)
	_, err = g.cast(0, nil, Options{Unordered, WeakAtomicity})
	require.NoError(t, err)
	g.run(10 * time.Millisecond)
	require.Equal(t, before, g.nodes[0].stable[StrictAtomicity])
	require.Equal(t, []int{1, 1, 1}, g.count, "Weak messages need no acknowledgement")

	g.effects = nil
	g.run(10 * time.Millisecond)
	require.Len(t, g.effects, 1)
	require.Equal(t, Slow, g.effects[0].Kind)

	s.Consumed(5000, 0)
	g.run(5 * time.Millisecond)
	require.Equal(t, []int{2, 2, 2}, g.count, "it has caught up, and acknowledges at once")

	g.effects = nil
	s.slow.backlog = 5000
	g.run(50 * time.Millisecond)
	require.Equal(t, []Kind{Slow, Overrun}, []Kind{g.effects[0].Kind, g.effects[1].Kind})
	require.Len(t, g.effects, 2)
	_, err = g.cast(2, nil, Options{Order: Unordered, Atomicity: WeakAtomicity})
	require.ErrorIs(t, err, ErrLeaving)
}

// Members that part deliver their common messages. Unordered messages continue in the
// next view, and joiners begin where the others are.
func TestViewsChange(t *testing.T) {
	g := newTrio(3, Config{})
	g.keep = true
	for range 5 {
		_, err := g.cast(0, []byte("first"), Options{Order: TotalOrder, Atomicity: WeakAtomicity})
		require.NoError(t, err)
	}
	g.turn()
	cut := true
	g.drop = func(from, to int, p *Packet) bool { return cut && (from == 2) != (to == 2) }
	_, err := g.cast(0, []byte("strict"), Options{TotalOrder, StrictAtomicity})
	require.NoError(t, err)
	_, err = g.cast(2, []byte("alone"), Options{TotalOrder, WeakAtomicity})
	require.NoError(t, err)
	g.run(10 * time.Millisecond)
	g.effects = nil
	g.install(viewOf(2, 0, 1))
	g.install(viewOf(3, 2))
	for i := range 2 {
		last := g.delivered[i][len(g.delivered[i])-1]
		require.Equal(t, "strict", g.payloads[i][len(g.payloads[i])-1])
		require.True(t, last.Transitional, "not all members had it")
	}
	_, err = g.cast(2, []byte("alone again"), Options{TotalOrder, WeakAtomicity})
	require.NoError(t, err)
	g.run(10 * time.Millisecond)
	require.Equal(t, []string{"alone", "alone again"}, g.payloads[2][len(g.payloads[2])-2:])

	cut = false
	g.effects = nil
	at := len(g.payloads[0])
	g.install(viewOf(4, 0, 1, 2))
	_, err = g.cast(2, []byte("together"), Options{TotalOrder, WeakAtomicity})
	require.NoError(t, err)
	g.run(10 * time.Millisecond)
	for i := range 2 {
		require.Equal(t, []string{"together"}, g.payloads[i][at:], "no member delivers what another branch ordered")
	}
	for _, e := range g.effects {
		require.NotEqual(t, Elsewhere, e.Kind, "node %v", e)
	}
}

// A sender whose message another branch has ordered without it learns that the outcome
// will stay unknown.
func TestOrderedElsewhere(t *testing.T) {
	g := newTrio(3, Config{})
	// Node 2 sends, and does not receive the decisions of the others.
	g.drop = func(from, to int, p *Packet) bool { return to == 2 }
	id, err := g.cast(2, []byte("away"), Options{Order: TotalOrder, Atomicity: WeakAtomicity})
	require.NoError(t, err)
	g.run(5 * time.Millisecond)
	require.Equal(t, []int{1, 1, 0}, g.count)
	g.drop = func(from, to int, p *Packet) bool { return (from == 2) != (to == 2) }
	g.install(viewOf(2, 0, 1))
	g.drop = nil
	g.effects = nil
	g.install(viewOf(3, 0, 1, 2))
	var found []Effect
	for _, e := range g.effects {
		if e.Kind == Elsewhere {
			found = append(found, e)
		}
	}
	require.Len(t, found, 1)
	require.Equal(t, ClassOrdered, found[0].Class)
	require.Equal(t, [2]uint64{id.Sequence, id.Sequence}, [2]uint64{found[0].From, found[0].Through})
	g.run(20 * time.Millisecond)
	require.Equal(t, []int{1, 1, 0}, g.count, "it is not delivered twice")
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	for opt, size := range map[Options]int{{TotalOrder, WeakAtomicity}: 64, {TimedOrder, StrongAtomicity}: 64, {Unordered, StrictAtomicity}: 64,
		{TotalOrder, StrictAtomicity}: 16 << 10, {TimedOrder, WeakAtomicity}: 200_000} {
		g := newTrio(3, Config{})
		payload := make([]byte, size)
		lent := make([][]Loan, 3)
		g.take = func(i int, d *Delivery) { lent[i] = append(lent[i], g.nodes[i].Borrow(d)) }
		step := func() {
			for i := range g.nodes {
				for k := range lent[i] {
					g.nodes[i].GiveBack(lent[i][k], 1)
				}
				lent[i] = lent[i][:0]
				for range min(20, 1+100_000/size) {
					_, _ = g.cast(i, payload, opt) // a full window may refuse it
				}
			}
			g.now = g.now.Add(100 * time.Microsecond)
			g.turn()
		}
		for i := range 3000 { // let the rings and the memory of large payloads grow
			payload = payload[:min(size, 64)]
			if i > 2900 {
				payload = payload[:size]
			}
			step()
		}
		require.Zero(t, testing.AllocsPerRun(20, step), "%v, %d bytes", opt, size)
	}
}

func TestConfigNamesWhatIsWrong(t *testing.T) {
	require.NoError(t, Config{}.Validate())
	for field, c := range map[string]Config{
		"Window": {Window: 1}, "MaxMessages": {MaxMessages: -1}, "MaxPayload": {MaxPayload: LargestPayload + 1},
		"PacketBytes": {PacketBytes: 70_000}, "Backlog": {Backlog: -1}, "SlowAfter": {SlowAfter: 1},
	} {
		err := c.Validate()
		require.Error(t, err, field)
		require.True(t, strings.Contains(err.Error(), field+":"), "%v", err)
	}
	err := Config{MaxMessages: 10, MaxPayload: 1 << 20}.Validate()
	require.ErrorContains(t, err, "MaxMessages: 10 is below the 1104 fragments")
}

// A node acknowledges a message that is not Weak at once: a Strict message takes three
// message delays, and no keepalive.
func TestAcknowledgementsAreNotLate(t *testing.T) {
	for _, opt := range []Options{{TotalOrder, StrongAtomicity}, {TotalOrder, StrictAtomicity}, {Unordered, StrictAtomicity}} {
		g := newTrio(3, Config{})
		_, err := g.cast(1, nil, opt)
		require.NoError(t, err)
		for range 4 {
			g.turn() // no time passes
		}
		require.Equal(t, []int{1, 1, 1}, g.count, "%v", opt)
	}
}

// A decision is acknowledged at once if one of its messages waits for that, whatever follows it.
func TestOneUrgentMessageIsEnough(t *testing.T) { oneIsUrgent(t) }

func oneIsUrgent(t testing.TB) {
	for _, urgent := range []int{1, 2} {
		g := newTrio(3, Config{})
		for i := 1; i <= 2; i++ {
			opt := Options{TotalOrder, WeakAtomicity}
			if i == urgent {
				opt.Atomicity = StrictAtomicity
			}
			_, err := g.cast(i, nil, opt)
			require.NoError(t, err)
		}
		both := 0
		g.drop = func(_, _ int, p *Packet) bool {
			for _, d := range p.Decisions {
				if len(d.Ranges) == 2 {
					both++
					require.True(t, d.Urgent, "that of member %d is", urgent)
				}
			}
			return false
		}
		g.turn()
		g.turn()
		require.Equal(t, 2, both, "one decision, to two members")
	}
}

// After a burst of Weak messages, which nobody acknowledges separately, the role moves
// on every election period until all messages are stable, and then rests.
func TestTheRoleMovesOnUntilAllIsStable(t *testing.T) {
	g := newTrio(3, Config{})
	for range 10 {
		_, err := g.cast(1, nil, Options{TotalOrder, WeakAtomicity})
		require.NoError(t, err)
	}
	messages, _ := g.nodes[1].Resting()
	require.EqualValues(t, 10, messages)
	decisions := 0
	g.drop = func(from, to int, p *Packet) bool { decisions += len(p.Decisions); return false }
	for range 10 {
		g.now = g.now.Add(timed.LAN().ElectionPeriod)
		g.turn()
	}
	for i, s := range g.nodes {
		messages, kept := s.Resting()
		require.Zero(t, messages)
		require.Equal(t, s.known-s.released, kept)
		require.GreaterOrEqual(t, s.released, s.full, "node %d", i)
		require.Zero(t, s.streams[2][ClassOrdered].bytes)
	}
	decisions = 0
	for range 10 {
		g.now = g.now.Add(timed.LAN().ElectionPeriod)
		g.turn()
	}
	require.Zero(t, decisions, "an idle group is silent")
}

// Messages that arrive in any order, some repeatedly, are delivered once and in order.
func TestPacketsOvertakeEachOther(t *testing.T) {
	g := newTrio(2, Config{})
	g.keep = true
	var late []*Packet
	g.drop = func(from, to int, p *Packet) bool {
		if from == 1 && len(p.Runs) > 0 {
			c := *p
			c.Runs = append([]Run(nil), p.Runs...)
			for i := range c.Runs {
				c.Runs[i].Payload = bytes.Clone(c.Runs[i].Payload)
			}
			late = append(late, &c)
			return true
		}
		return false
	}
	for i := range 20 {
		_, err := g.cast(1, []byte{byte(i)}, Options{TotalOrder, WeakAtomicity})
		require.NoError(t, err)
		g.turn()
	}
	for range 2 {
		for i := range late {
			g.nodes[0].HandlePacket(g.now, incarnation(1), late[len(late)-1-i], nil)
			g.turn()
		}
	}
	require.Len(t, g.payloads[0], 20)
	for i, p := range g.payloads[0] {
		require.Equal(t, []byte{byte(i)}, []byte(p))
	}
}
