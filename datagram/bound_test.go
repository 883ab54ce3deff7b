package datagram

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/timed"
)

// True time in these tests is counted in 10⁻⁹ ns, so that a clock of a whole number of
// nanoseconds and a rate in parts per billion is exact: no tolerance hides rounding
// errors.

// piece is a stretch of a clock with dt/dH = 1 + rate·10⁻⁹.
type piece struct {
	from  timed.Instant // clock reading at its beginning
	begin int64         // the same in true time
	rate  int64
}

func (p piece) at(h timed.Instant) int64 { return p.begin + int64(h-p.from)*(1e9+p.rate) }

// testClock is a hardware clock: pieces in the order of time.
type testClock []piece

// at returns the true time at which the clock shows h.
func (c testClock) at(h timed.Instant) int64 {
	i := len(c) - 1
	for i > 0 && h < c[i].from {
		i--
	}
	return c[i].at(h)
}

// ceil and floor return the clock reading at true time t, rounded.
func (c testClock) ceil(t int64) timed.Instant {
	h := c.floor(t)
	if c.at(h) < t {
		h++
	}
	return h
}

func (c testClock) floor(t int64) timed.Instant {
	i := len(c) - 1
	for i > 0 && t < c[i].begin {
		i--
	}
	h := c[i].from + timed.Instant((t-c[i].begin)/(1e9+c[i].rate))
	if i+1 < len(c) { // it may stand still until the next piece begins
		h = timed.Earlier(h, c[i+1].from-1)
	}
	return h
}

// bend gives the clock another rate from the first nanosecond after true time t.
func (c *testClock) bend(t, rate int64) {
	h := c.ceil(t)
	*c = append(*c, piece{h, c.at(h), rate})
}

// jump makes the clock skip d at the first nanosecond after true time t, or stand still
// for −d. It returns the true time at which the clock is right again.
func (c *testClock) jump(t int64, d time.Duration) int64 {
	h := c.ceil(t)
	p := piece{h.Add(d), c.at(h), (*c)[len(*c)-1].rate}
	if d < 0 {
		p = piece{h + 1, c.at(h) - int64(d)*1e9, p.rate}
	}
	*c = append(*c, p)
	return p.begin
}

// encounter is a meeting of two nodes: their clocks, and the behaviour of the network.
type encounter struct {
	timing  timed.Timing
	offsets [2]timed.Instant
	rates   [2]int64
	moves   []move
}

// move is a packet of either node, some time after the packet before.
type move struct {
	gap   int64 // ns
	from  int
	lost  bool
	delay int64 // ns beyond δmin
	part  int64 // 10⁻⁹ ns
	bend  bool  // the sender's clock changes its rate first
	rate  int64
	jump  time.Duration // the sender's clock skips that first, and breaks ρ
}

var drawEncounter = rapid.Custom(func(t *rapid.T) encounter {
	e := encounter{timing: timed.LAN()}
	e.timing.MaxDrift = rapid.SampledFrom([]timed.Drift{timed.MaxDrift, 100_000, 0}).Draw(t, "rho")
	e.timing.MinDelay = rapid.SampledFrom([]time.Duration{0, 300 * time.Microsecond}).Draw(t, "δmin")
	rho := int64(e.timing.MaxDrift)
	rate := rapid.Custom(func(t *rapid.T) int64 { // the ends more often than not
		return rapid.OneOf(rapid.Just(-rho), rapid.Just(rho), rapid.Int64Range(-rho, rho)).Draw(t, "ppb")
	})
	for i := range 2 {
		e.offsets[i] = timed.Instant(rapid.Int64Range(1, 1<<50).Draw(t, "offset"))
		e.rates[i] = rate.Draw(t, "rate")
	}
	const ms = int64(time.Millisecond)
	drawMove := rapid.Custom(func(t *rapid.T) move {
		m := move{gap: rapid.Int64Range(0, 6*ms).Draw(t, "gap"), from: rapid.IntRange(0, 1).Draw(t, "from"),
			delay: rapid.Int64Range(0, 2*ms).Draw(t, "delay"), part: rapid.Int64Range(0, 1e9-1).Draw(t, "part")}
		switch rapid.IntRange(0, 19).Draw(t, "kind") {
		case 0, 1:
			m.lost = true
		case 2, 3, 4:
			m.delay += rapid.Int64Range(0, 40*ms).Draw(t, "late") // and overtaken
		case 5:
			m.gap += rapid.Int64Range(0, 500*ms).Draw(t, "silence")
		case 6:
			m.bend, m.rate = true, rate.Draw(t, "new rate")
		}
		return m
	})
	// Short encounters are easy to read after shrinking.
	e.moves = rapid.OneOf(rapid.SliceOfN(drawMove, 1, 60), rapid.SliceOfN(drawMove, 100, 300)).Draw(t, "moves")
	return e
})

// flying is a packet under way.
type flying struct {
	header       Header
	to           int
	sent, arrive int64 // true times
}

// seen counts the cases that a run met, so that a test that checks nothing fails.
type seen struct{ fast, slow, overtaken, negativeGap, faults, again int }

// duel is two nodes that exchange packets.
type duel struct {
	encounter
	clocks [2]testClock
	nodes  [2]*Service
	air    []flying
	last   [2]timed.Instant
	broken int64 // true time of the last jump
	seen   *seen
}

// bound reports whether both clocks have kept ρ since the node forgot what it had measured.
// All promises rest on that.
func (d *duel) bound(node int) bool {
	if d.broken == 0 {
		return true
	}
	since := d.nodes[node].peers[2-node].current.since
	return since != 0 && d.clocks[node].at(since) > d.broken
}

// play checks every promise of the service against true time.
func (e encounter) play(s *seen) error {
	d := &duel{encounter: e, seen: s}
	for i := range d.nodes {
		d.clocks[i] = testClock{{from: e.offsets[i], rate: e.rates[i]}}
		d.nodes[i] = New(Config{Self: timed.Incarnation{Node: timed.NodeID(i + 1), Boot: timed.BootID(i + 10)}, Timing: e.timing}, e.offsets[i])
		d.nodes[i].AddPeer(e.offsets[i], timed.NodeID(2-i))
		d.nodes[i].SetReady()
	}
	now := int64(0)
	for i, m := range e.moves {
		if now += m.gap * 1e9; now > 4e18 {
			break // true time is near its end
		}
		if err := d.land(now); err != nil {
			return err
		}
		if err := d.send(now, m); err != nil {
			return fmt.Errorf("move %d: %w", i, err)
		}
	}
	return d.land(9e18)
}

// send lets a node send a packet, and checks its knowledge of the other first.
func (d *duel) send(now int64, m move) error {
	c := &d.clocks[m.from]
	if m.bend {
		c.bend(now, m.rate)
	}
	if m.jump != 0 {
		d.broken = max(1, d.broken, c.jump(now, m.jump))
	}
	peer, stamp := timed.NodeID(2-m.from), c.ceil(now)
	if !m.lost {
		sent := max(now, c.at(stamp))
		f := flying{to: 1 - m.from, sent: sent, arrive: sent + (int64(d.timing.MinDelay)+m.delay)*1e9 + m.part,
			header: Header{Source: timed.NodeID(m.from + 1), Destination: peer, Boot: timed.BootID(m.from + 10),
				Stamp: stamp, Echo: echo(d.nodes[m.from], stamp, peer)}}
		at, _ := slices.BinarySearchFunc(d.air, f.arrive, func(g flying, t int64) int {
			if g.arrive <= t {
				return -1
			}
			return 1
		})
		d.air = slices.Insert(d.air, at, f)
	}
	return d.offsetHolds(m.from, stamp)
}

// land delivers the packets that arrive until now.
func (d *duel) land(now int64) error {
	for len(d.air) > 0 && d.air[0].arrive <= now {
		f := d.air[0]
		d.air = d.air[1:]
		if err := d.deliver(&f); err != nil {
			return fmt.Errorf("at %d ns: %w", f.arrive/1e9, err)
		}
	}
	return nil
}

func (d *duel) deliver(f *flying) error {
	q, me, s := d.nodes[f.to], d.clocks[f.to], d.seen
	r := me.ceil(f.arrive)
	from := f.header.Source
	before := d.bound(f.to)
	e := q.HandlePacket(r, &f.header, nil)[0]
	delay := e.Delay
	if e.Kind == Faulty {
		s.faults++
		if before && delay.Bound != Unknown { // else by the peer's word, which may be late
			return fmt.Errorf("clocks within ρ were blamed: bound %v", delay.Bound)
		}
	}
	if !d.bound(f.to) {
		return nil
	}
	if f.header.Stamp < d.last[f.to] {
		s.overtaken++
	}
	d.last[f.to] = max(d.last[f.to], f.header.Stamp)
	if e.Kind != Delivered && e.Kind != Accepted {
		return nil
	}
	if p := q.peers[from]; p.current.hasHelper && p.current.helper.Received > f.header.Stamp {
		s.negativeGap++
	}
	truth := f.arrive - f.sent
	if delay.Bound != Unknown && int64(delay.Bound) < (truth+1e9-1)/1e9 {
		return fmt.Errorf("the delay was %d·10⁻⁹ ns, the bound is %d ns", truth, delay.Bound)
	}
	if delay.Fast {
		s.fast++
		if d.broken != 0 {
			s.again++
		}
		if truth > int64(d.timing.FastThreshold)*1e9 {
			return fmt.Errorf("a message of %d ns was fast", truth/1e9)
		}
	} else {
		s.slow++
	}
	if got, least := q.SentBefore(r, from, f.header.Stamp), me.ceil(f.sent); got < least || got > r {
		return fmt.Errorf("our clock showed %d when it was sent and %d when it came, SentBefore says %d", least, r, got)
	}
	return d.offsetHolds(f.to, r)
}

func (d *duel) offsetHolds(node int, now timed.Instant) error {
	lo, hi, ok := d.nodes[node].Offset(now, timed.NodeID(2-node))
	t := d.clocks[node].at(now)
	you := d.clocks[1-node]
	if !d.bound(node) {
		return nil
	}
	if below, above := you.floor(t).Sub(now), you.ceil(t).Sub(now); ok && (lo > below || hi < above) {
		return fmt.Errorf("the clocks differ by %d, the interval is [%d, %d]", below, lo, hi)
	}
	return nil
}

// "A Fail-Aware Datagram Service": the computed bound is never below the delay,
// whatever the clocks do within ρ and whatever the network does.
func TestBoundsContainTheTruth(t *testing.T) {
	var s seen
	rapid.Check(t, func(t *rapid.T) { require.NoError(t, drawEncounter.Draw(t, "encounter").play(&s)) })
	t.Logf("%+v", s)
	if !testing.Short() { // which runs too few for these counts
		require.Greater(t, s.fast, 1000)
		require.Greater(t, s.slow, 100)
		require.Greater(t, s.overtaken, 100)
		require.Greater(t, s.negativeGap, 10)
	}
}

// Clocks that jump break ρ. From the verdict on, all bounds hold again, no clock is blamed
// without a further jump, and the two nodes hear each other again.
func TestBoundsHoldAgainAfterAFault(t *testing.T) { boundsHoldAgain(t) }

func boundsHoldAgain(t testing.TB) {
	var s seen
	for seed := range 300 {
		e := drawEncounter.Example(seed)
		stream := rand.New(rand.NewPCG(uint64(seed), 1))
		for len(e.moves) < 400 { // long enough for several separations
			e.moves = append(e.moves, e.moves...)
		}
		e.moves = e.moves[:400]
		for range 1 + stream.IntN(3) {
			i := 5 + stream.IntN(300)
			m := &e.moves[i]
			m.jump = time.Duration(1e6 + stream.Int64N(1e9))
			if stream.IntN(2) == 0 {
				m.jump = -m.jump / 20
			}
			for j := i - 5; j < i; j++ { // some packets from before come after the verdict
				if e.moves[j].from == m.from {
					e.moves[j].delay = stream.Int64N(int64(500 * ms))
				}
			}
		}
		require.NoError(t, e.play(&s), "seed %d", seed)
	}
	t.Logf("%+v", s)
	require.Greater(t, s.faults, 200)
	require.Greater(t, s.again, 1000)
}

// key is the measure of helpers: B(1−ρ) − A(1+ρ).
func (p Pair) key(rho timed.Drift) *big.Int {
	a := new(big.Int).Mul(big.NewInt(int64(p.Sent)), big.NewInt(1e9+int64(rho)))
	b := new(big.Int).Mul(big.NewInt(int64(p.Received)), big.NewInt(1e9-int64(rho)))
	return b.Sub(b, a)
}

// Helpers are compared by their exact key: a better one has a smaller key, and
// one whose key is smaller by a nanosecond is better.
func TestTheBetterHelperHasTheSmallerKey(t *testing.T) {
	better := 0
	drawPair := rapid.Custom(func(t *rapid.T) Pair {
		sent := timed.Instant(rapid.Int64Range(1, 1<<60).Draw(t, "sent"))
		return Pair{sent, sent.Add(time.Duration(rapid.Int64Range(-1<<50, 1<<50).Draw(t, "offset")))}
	})
	rapid.Check(t, func(t *rapid.T) {
		rho := timed.Drift(rapid.Int64Range(0, int64(timed.MaxDrift)).Draw(t, "rho"))
		p := drawPair.Draw(t, "p")
		q := drawPair.Draw(t, "q")
		if rapid.Bool().Draw(t, "near") { // like successive helpers
			dA := time.Duration(rapid.Int64Range(-1e6, 1e6).Draw(t, "dA"))
			q = Pair{p.Sent.Add(dA), p.Received.Add(dA + time.Duration(rapid.Int64Range(-1e3, 1e3).Draw(t, "dB−dA")))}
		}
		diff := new(big.Int).Sub(p.key(rho), q.key(rho))
		if p.better(q, rho) {
			better++
			require.Negative(t, diff.Sign())
			require.False(t, q.better(p, rho))
		} else {
			require.Greater(t, diff.Cmp(big.NewInt(-1e9)), 0, "%v is not better than %v", p, q)
		}
	})
	if !testing.Short() {
		require.Greater(t, better, 10)
	}
}

// An echo of a packet that has not left yet is damaged: it neither helps nor blames a clock.
func echoOfTheFuture(t testing.TB) {
	s := newService(1, 2)
	take(t, s, 11*ms, hello(7, 10*ms), Accepted)
	before := s.peers[2].current.helper
	h := hello(7, 20*ms)
	h.Echo.Sent = at(21*ms + 1)
	take(t, s, 21*ms, h, Delivered)
	require.Equal(t, before, s.peers[2].current.helper)
}

func TestAnEchoOfTheFutureSaysNothing(t *testing.T) { echoOfTheFuture(t) }
