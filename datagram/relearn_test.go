package datagram

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// pair is two nodes that send each other keepalives.
type pair struct {
	t     testing.TB
	now   time.Duration
	nodes [2]*Service
	skew  [2]time.Duration // of their clocks
	delay func(from int) time.Duration
	// change may damage a packet to a node.
	change func(to int, h *Header)
	faults [2]int // verdicts
}

func newPair(t testing.TB) *pair {
	return &pair{t: t, now: time.Second, nodes: [2]*Service{newService(1, 2), newService(2, 1)}, delay: usual}
}

func usual(int) time.Duration { return 2 * ms }

func (p *pair) clock(node int) timed.Instant { return at(p.now + p.skew[node]) }

// exchange lets both nodes send, once a keepalive period, for a time.
func (p *pair) exchange(d time.Duration) {
	for end := p.now + d; p.now < end; p.now += 21 * ms {
		for from, s := range p.nodes {
			to := 1 - from
			h := Header{Source: s.cfg.Self.Node, Destination: timed.NodeID(to + 1), Boot: s.cfg.Self.Boot, Stamp: p.clock(from)}
			s.FillEcho(h.Stamp, &h)
			require.Equal(p.t, h.Echo.Boot != 0, h.Echo.Sent != 0, "an echo of somebody has a pair")
			if p.change != nil {
				p.change(to, &h)
			}
			p.now += p.delay(from)
			if e := p.nodes[to].HandlePacket(p.clock(to), &h, nil); e[0].Kind == Faulty {
				p.faults[to]++
			}
		}
	}
}

func (p *pair) alive(want bool, why string) {
	p.t.Helper()
	for i, s := range p.nodes {
		require.Equal(p.t, want, s.Alive(p.clock(i)).Has(timed.NodeID(2-i)), "%s: node %d", why, i+1)
	}
}

// A single wrong packet separates two nodes for a moment and not for ever.
func TestAWrongPairIsForgotten(t *testing.T) { wrongPairsHeal(t) }

func wrongPairsHeal(t testing.TB) {
	for name, damage := range map[string]func(h *Header){
		"stamp in the future": func(h *Header) { h.Stamp += 1 << 40 },
		"stamp in the past":   func(h *Header) { h.Stamp -= 1 << 26; h.Echo.Received -= 1 << 26 },
		"echo too early":      func(h *Header) { h.Echo.Received -= 1 << 33 },
		"echo of another packet": func(h *Header) {
			h.Echo.Sent, h.Echo.Received = h.Echo.Sent.Add(3*ms), h.Echo.Received.Add(-3*ms)
		},
	} {
		p := newPair(t)
		p.delay = func(from int) time.Duration { // node 2 keeps the pair of a packet that was faster than all later ones
			if from == 0 {
				return ms / 10
			}
			return 2 * ms
		}
		p.exchange(30 * ms)
		p.delay = usual
		p.exchange(time.Second)
		p.alive(true, name)
		p.change = func(to int, h *Header) {
			if to == 0 {
				damage(h)
				p.change = nil
			}
		}
		p.exchange(50 * ms)
		require.NotZero(t, p.faults[0], name)
		require.False(t, p.nodes[0].Alive(p.clock(0)).Has(2), name)
		p.exchange(time.Second)
		p.alive(true, name)
		require.LessOrEqual(t, p.faults[0]+p.faults[1], 2, name)
	}
}

// A damaged packet can make two counters conflict, once. A second conflict proves that two
// processes send.
func TestOneConflictOfCountersHeals(t *testing.T) { oneConflictHeals(t) }

func oneConflictHeals(t testing.TB) {
	s := newService(1, 2)
	send := func(counter uint64, sent time.Duration, want Kind) {
		h := hello(7, sent)
		h.Counter = counter
		take(t, s, sent+ms, h, want)
	}
	send(5, 10*ms, Accepted)
	send(5, 11*ms, Twin)
	require.False(t, s.Alive(at(12*ms)).Has(2))
	send(6, s.separation(conflictCounts), Dropped)
	later := s.separation(conflictCounts) + 12*ms
	send(7, later, Delivered)
	send(8, later+10*ms, Delivered)
	require.True(t, s.Alive(at(later+11*ms)).Has(2))
	for i := range 300 { // more than the conflicts that are counted
		send(8, later+20*ms+time.Duration(i)*ms, Dropped)
	}
	send(9, 2*time.Hour, Dropped)
}

// Further contradictions during a separation prolong it, and are not reported again.
func TestAContradictionIsReportedOnce(t *testing.T) {
	s := newService(1, 2)
	take(t, s, 11*ms, hello(7, 10*ms), Accepted)
	for i, want := range []Kind{Faulty, Dropped, Dropped} {
		now := 13*ms + time.Duration(i)*s.separation(1)*3/4
		ahead := hello(7, now+time.Minute)
		ahead.Echo = hello(7, now-2*ms).Echo
		take(t, s, now, ahead, want)
	}
	faulty, heard := s.Faults(at(14 * ms))
	require.Equal(t, [2]int{1, 1}, [2]int{faulty, heard})
}

// A contradiction during a separation counts against the clocks for as long as any other.
func TestEvidenceLastsFromTheLastContradiction(t *testing.T) {
	s := newService(1, 2)
	take(t, s, 11*ms, hello(7, 10*ms), Accepted)
	contradict := func(now time.Duration, want Kind) {
		ahead := hello(7, now+time.Minute)
		ahead.Echo = hello(7, now-2*ms).Echo
		take(t, s, now, ahead, want)
	}
	last := 13*ms + s.separation(1)*3/4
	contradict(13*ms, Faulty)
	contradict(last, Dropped)
	for after, want := range map[time.Duration]int{evidenceLasts: 1, evidenceLasts + ms: 0} {
		s.peers[2].current.lastSeen = at(last + after)
		faulty, heard := s.Faults(at(last + after))
		require.Equal(t, [2]int{want, 1}, [2]int{faulty, heard}, "after %v", after)
	}
}

// While a fault separates two nodes, no delay between them is known: not that from before, and
// not less than any.
func TestNoDelayIsKnownAcrossAFault(t *testing.T) {
	s := newService(1, 2)
	take(t, s, 11*ms, hello(7, 10*ms), Accepted)
	require.NotEqual(t, Unknown, s.LastDelay(2).Bound)
	ahead := hello(7, 13*ms+time.Minute)
	ahead.Echo = hello(7, 12*ms).Echo
	take(t, s, 13*ms, ahead, Faulty)
	require.Equal(t, Delay{Bound: Unknown}, s.LastDelay(2))
	take(t, s, 21*ms, hello(7, 20*ms), Dropped) // echoes a packet from after the fault
	require.True(t, s.peers[2].current.hasHelper)
	require.Equal(t, Delay{Bound: Unknown}, s.LastDelay(2))
}

// Two processes that use one incarnation have two clocks. That these contradict each other
// is no sign that a clock is wrong.
func twinsAreNoFault(t testing.TB) {
	s := newService(1, 2)
	take(t, s, 11*ms, hello(7, 10*ms), Accepted)
	ahead := hello(7, time.Minute)
	ahead.Echo = hello(7, 11*ms).Echo
	take(t, s, 13*ms, ahead, Faulty)
	faulty, heard := s.Faults(at(14 * ms))
	require.Equal(t, [2]int{1, 1}, [2]int{faulty, heard})
	for i, want := range []Kind{Dropped, Twin, Dropped} {
		h := hello(7, time.Duration(20+i)*ms)
		h.Counter = 5
		take(t, s, time.Duration(21+i)*ms, h, want)
	}
	faulty, heard = s.Faults(at(25 * ms))
	require.Equal(t, [2]int{0, 1}, [2]int{faulty, heard})
}

func TestTwinsAreNoClockFault(t *testing.T) { twinsAreNoFault(t) }

// Contradictions in a row separate two nodes for longer and longer, until the last one is
// long ago.
func TestSeparationsGetLonger(t *testing.T) {
	s := newService(1, 2)
	take(t, s, 11*ms, hello(7, 10*ms), Accepted)
	now, first := 100*ms, s.separation(1)
	require.Equal(t, s.cfg.Timing.Expires+s.cfg.Timing.ReadyTime(), first)
	contradict := func() {
		take(t, s, now+ms, hello(7, now), Delivered) // ends the separation
		take(t, s, now+5*ms, hello(7, now+4*ms), Delivered)
		ahead := hello(7, now+time.Minute)
		ahead.Echo = hello(7, now+4*ms).Echo
		now += 6 * ms
		take(t, s, now, ahead, Faulty)
	}
	for want := first; want < 2*maxSeparation; want *= 2 {
		contradict()
		d := min(want, maxSeparation)
		take(t, s, now+d-1, hello(7, now-2*ms+d), Dropped)
		now += d
	}
	now += evidenceLasts
	contradict()
	faulty, _ := s.Faults(at(now))
	require.Equal(t, 1, faulty)
	now += first
	take(t, s, now+ms, hello(7, now), Delivered)
}

// A contradiction counts from when it shows, however long this node has heard nothing
// else of the peer.
func contradictionAfterSilence(t testing.TB) {
	s := newService(1, 2)
	take(t, s, 11*ms, hello(7, 10*ms), Accepted)
	shows := evidenceLasts - time.Minute
	ahead := hello(7, shows+time.Minute)
	ahead.Echo = hello(7, shows-2*ms).Echo
	take(t, s, shows, ahead, Faulty)
	later := shows + evidenceLasts - time.Minute
	take(t, s, later, hello(7, later-ms), Delivered)
	faulty, heard := s.Faults(at(later))
	require.Equal(t, [2]int{1, 1}, [2]int{faulty, heard})
	for after, want := range map[time.Duration]int{evidenceLasts: 1, evidenceLasts + 1: 0} {
		take(t, s, shows+after, hello(7, shows+after-ms), Delivered)
		faulty, heard := s.Faults(at(shows + after))
		require.Equal(t, [2]int{want, 1}, [2]int{faulty, heard}, "%v later", after)
	}
	require.Equal(t, Faulty, s.distrust(at(later), s.peers[2], 2))
	require.Equal(t, at(later).Add(s.separation(2)), s.peers[2].current.until, "it is the second one in a row")
}

func TestAContradictionCountsFromWhenItShows(t *testing.T) { contradictionAfterSilence(t) }

// Every separation lasts until the votes that rest on former bounds are over, also where
// they last longer than maxSeparation.
func TestASeparationOutlastsEveryVote(t *testing.T) { outlastsVotes(t) }

func outlastsVotes(t testing.TB) {
	for _, votes := range []time.Duration{time.Second, maxSeparation, time.Hour} {
		s := newService(1, 2)
		s.cfg.Timing.MaxLockTime = votes
		for count := range uint8(12) {
			require.Greater(t, s.separation(count), s.cfg.Timing.MaxDrift.Wait(votes), "%v, contradiction %d", votes, count)
		}
	}
}

// After a clock has jumped, both nodes forget what was measured before. The bounds are
// right again, which is all that the promise needs.
func TestAClockThatJumpedIsLearntAnew(t *testing.T) {
	for _, jump := range []time.Duration{10 * ms, time.Second, time.Hour} {
		for node := range 2 {
			p := newPair(t)
			p.exchange(time.Second)
			p.skew[node] += jump
			p.exchange(50 * ms)
			p.alive(false, "after the jump")
			p.exchange(time.Second)
			p.alive(true, "later")
			for i, s := range p.nodes {
				lo, hi, ok := s.Offset(p.clock(i), timed.NodeID(2-i))
				require.True(t, ok)
				truth := p.skew[1-i] - p.skew[i]
				require.LessOrEqual(t, lo, truth)
				require.GreaterOrEqual(t, hi, truth)
			}
		}
	}
}

// A clock may jump again while the nodes are separated. Then only one of them may notice.
// Both forget, also the pairs of packets that were faster than all later ones, and hear
// each other again soon.
func TestAClockThatJumpsOftenIsLearntAnew(t *testing.T) { jumpsOften(t) }

func jumpsOften(t testing.TB) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 0))
		p := newPair(t)
		p.delay = func(int) time.Duration { return ms/10 + time.Duration(r.Int64N(int64(2*ms))) }
		p.exchange(time.Second)
		for range 1 + r.IntN(4) {
			p.skew[r.IntN(2)] += time.Duration(r.Int64N(int64(20*ms))) - 5*ms
			p.exchange(time.Duration(r.Int64N(int64(200 * ms))))
		}
		calm := time.Duration(0) // since the last separation
		for p.exchange(21 * ms); calm < 300*ms && !p.bothAlive(); p.exchange(21 * ms) {
			if calm += 21 * ms; p.nodes[0].Fault(2) || p.nodes[1].Fault(1) {
				calm = 0
			}
			for i, s := range p.nodes { // what was measured since is judged at the end
				peer := timed.NodeID(2 - i)
				_, _, ok := s.Offset(p.clock(i), peer)
				require.False(t, ok && s.Fault(peer), "seed %d: an offset to a clock that is distrusted", seed)
			}
		}
		p.alive(true, fmt.Sprint("seed ", seed))
		p.exchange(20 * p.nodes[0].separation(1))
		p.bounded()
	}
}

func (p *pair) bothAlive() bool {
	return p.nodes[0].Alive(p.clock(0)).Has(2) && p.nodes[1].Alive(p.clock(1)).Has(1)
}

// bounded requires right bounds.
func (p *pair) bounded() {
	p.t.Helper()
	for i, s := range p.nodes {
		lo, hi, ok := s.Offset(p.clock(i), timed.NodeID(2-i))
		require.True(p.t, ok)
		truth := p.skew[1-i] - p.skew[i]
		require.LessOrEqual(p.t, lo, truth)
		require.GreaterOrEqual(p.t, hi, truth)
	}
}

// A clock is judged by the peers that are heard: one with evidence against it, among others that
// are silent, is all of them.
func silentPeersSayNothing(t testing.TB) {
	s := newService(1, 2, 3)
	from3 := hello(9, 5*ms)
	from3.Source = 3
	take(t, s, 6*ms, from3, Accepted)
	take(t, s, 11*ms, hello(7, 10*ms), Accepted)
	h := hello(7, 500*ms) // its clock ran ahead
	h.Echo = Echo{Heard: NotHeard}
	take(t, s, 20*ms, h, Faulty)
	for after, want := range map[time.Duration][2]int{0: {1, 2}, s.cfg.Timing.Expires - 14*ms: {1, 2}, s.cfg.Timing.Expires - 14*ms + 1: {1, 1}} {
		faulty, heard := s.Faults(at(20*ms + after))
		require.Equal(t, want, [2]int{faulty, heard}, "%v later", after)
	}
}

func TestSilentPeersSayNothingOfAClock(t *testing.T) { silentPeersSayNothing(t) }
