package datagram

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// True time in these tests is counted in 10⁻⁹ ns, so that a clock of a whole
// number of nanoseconds and a rate in parts per billion is exact: no tolerance
// hides what rounding does.

// testClock is a hardware clock with dt/dH = 1 + rate·10⁻⁹.
type testClock struct {
	offset timed.Instant
	rate   int64
}

// at returns the true time at which the clock shows h.
func (c testClock) at(h timed.Instant) int64 { return int64(h-c.offset) * (1e9 + c.rate) }

// ceil and floor return what the clock shows at true time t, rounded.
func (c testClock) ceil(t int64) timed.Instant {
	d := 1e9 + c.rate
	return c.offset + timed.Instant((t+d-1)/d)
}

func (c testClock) floor(t int64) timed.Instant { return c.offset + timed.Instant(t/(1e9+c.rate)) }

// flying is a packet under way.
type flying struct {
	header       Header
	to           int
	sent, arrive int64 // true times
}

// seen counts what a run came across, so that a test that checks nothing fails.
type seen struct{ fast, slow, overtaken, negativeGap int }

// duel lets two nodes exchange packets for two seconds and checks every promise
// of the service against true time.
func duel(seed uint64, s *seen) error {
	rnd := rand.New(rand.NewPCG(seed, 1))
	timing := timed.LAN()
	timing.MaxDrift = []timed.Drift{0, 100_000, timed.MaxDrift}[rnd.IntN(3)]
	if rnd.IntN(2) == 0 {
		timing.MinDelay = 300 * time.Microsecond
	}
	var clocks [2]testClock
	var nodes [2]*Service
	for i := range nodes {
		rate := []int64{-int64(timing.MaxDrift), int64(timing.MaxDrift), rnd.Int64N(2*int64(timing.MaxDrift)+1) - int64(timing.MaxDrift)}
		clocks[i] = testClock{offset: timed.Instant(1 + rnd.Int64N(1<<50)), rate: rate[rnd.IntN(3)]}
		nodes[i] = New(Config{Self: timed.Incarnation{Node: timed.NodeID(i + 1), Boot: timed.BootID(i + 10)}, Timing: timing}, clocks[i].offset)
		nodes[i].AddPeer(timed.NodeID(2-i), clocks[i].offset)
		nodes[i].SetReady()
	}
	delay := func() int64 {
		d := int64(timing.MinDelay) + rnd.Int64N(int64(2*time.Millisecond))
		if rnd.IntN(5) == 0 {
			d += rnd.Int64N(int64(40 * time.Millisecond)) // late, and overtaken
		}
		return d*1e9 + rnd.Int64N(1e9)
	}
	var air []flying
	var last [2]timed.Instant
	for t := int64(0); t < 2e18; t += rnd.Int64N(int64(6 * time.Millisecond * 1e9)) {
		slices.SortStableFunc(air, func(a, b flying) int { return int(min(max(a.arrive-b.arrive, -1), 1)) })
		for len(air) > 0 && air[0].arrive <= t {
			f := air[0]
			air = air[1:]
			if err := land(&f, &clocks, &nodes, timing, &last, s); err != nil {
				return fmt.Errorf("seed %d, at %d ns: %w", seed, f.arrive/1e9, err)
			}
		}
		i := rnd.IntN(2)
		peer := timed.NodeID(2 - i)
		stamp := clocks[i].ceil(t)
		if rnd.IntN(10) > 0 {
			sent := clocks[i].at(stamp)
			air = append(air, flying{to: 1 - i, sent: sent, arrive: sent + delay(), header: Header{
				Version: Version, Source: timed.NodeID(i + 1), Destination: peer, Boot: timed.BootID(i + 10),
				Stamp: stamp, Echo: echo(nodes[i], peer, stamp)}})
		}
		if _, _, ok := nodes[i].Offset(peer, stamp); ok {
			if err := offsetHolds(nodes[i], peer, clocks[i], clocks[1-i], stamp); err != nil {
				return fmt.Errorf("seed %d, at %d ns, aged: %w", seed, t/1e9, err)
			}
		}
	}
	return nil
}

func land(f *flying, clocks *[2]testClock, nodes *[2]*Service, timing timed.Timing, last *[2]timed.Instant, s *seen) error {
	q, me, you := nodes[f.to], clocks[f.to], clocks[1-f.to]
	r := me.ceil(f.arrive)
	from := f.header.Source
	d, verdict := q.HandlePacket(r, &f.header)
	if verdict == Faulty {
		return fmt.Errorf("clocks within ρ were blamed: bound %v", d.Bound)
	}
	if f.header.Stamp < last[f.to] {
		s.overtaken++
	}
	last[f.to] = max(last[f.to], f.header.Stamp)
	if verdict != Delivered && verdict != Accepted {
		return nil
	}
	if p := q.peers[from]; p.seat.hasHelp && p.seat.helper.Received > f.header.Stamp {
		s.negativeGap++
	}
	truth := f.arrive - f.sent
	if d.Bound != Unknown && (int64(d.Bound)+int64(timing.MinDelay) < 0 || int64(d.Bound) < truth/1e9) {
		return fmt.Errorf("the delay was %d ns, the bound is %d", truth/1e9, d.Bound)
	}
	if d.Bound != Unknown && int64(d.Bound) == truth/1e9 && truth%1e9 != 0 {
		return fmt.Errorf("the delay was above %d ns, the bound is that", truth/1e9)
	}
	if d.Fast {
		s.fast++
		if truth > int64(timing.FastThreshold)*1e9 {
			return fmt.Errorf("a message of %d ns was fast", truth/1e9)
		}
	} else {
		s.slow++
	}
	if got, least := q.SentBefore(from, f.header.Stamp, r), me.ceil(f.sent); got < least {
		return fmt.Errorf("our clock showed %d when it was sent, SentBefore says %d", least, got)
	}
	if _, _, ok := q.Offset(from, r); !ok {
		return nil
	}
	return offsetHolds(q, from, me, you, r)
}

func offsetHolds(s *Service, peer timed.NodeID, me, you testClock, now timed.Instant) error {
	lo, hi, _ := s.Offset(peer, now)
	t := me.at(now)
	if below, above := you.floor(t).Sub(now), you.ceil(t).Sub(now); lo > below || hi < above {
		return fmt.Errorf("the clocks differ by %d, the interval is [%d, %d]", below, lo, hi)
	}
	return nil
}

// "A Fail-Aware Datagram Service": the computed bound is never below the delay,
// whatever the clocks do within ρ and the network does at all.
func TestBoundsContainTheTruth(t *testing.T) {
	var s seen
	for seed := range uint64(400) {
		require.NoError(t, duel(seed, &s))
	}
	t.Logf("%+v", s)
	require.Greater(t, s.fast, 10_000)
	require.Greater(t, s.slow, 1000)
	require.Greater(t, s.overtaken, 1000)
	require.Greater(t, s.negativeGap, 100)
}
