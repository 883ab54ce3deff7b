package datagram

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// pair is two nodes that send each other keepalives, each within 2 ms.
type pair struct {
	t     testing.TB
	now   time.Duration
	nodes [2]*Service
	skew  [2]time.Duration // of their clocks
	quick bool             // packets of node 1 arrive within 0.1 ms
	// change may damage a packet to a node.
	change func(to int, h *Header)
	faults [2]int // verdicts
}

func newPair(t testing.TB) *pair {
	return &pair{t: t, now: time.Second, nodes: [2]*Service{newService(1, 2), newService(2, 1)}}
}

func (p *pair) clock(node int) timed.Instant { return at(p.now + p.skew[node]) }

// exchange lets both nodes send, once a keepalive period, for a time.
func (p *pair) exchange(d time.Duration) {
	for end := p.now + d; p.now < end; p.now += 21 * ms {
		for from, s := range p.nodes {
			to := 1 - from
			h := Header{Source: s.cfg.Self.Node, Destination: timed.NodeID(to + 1), Boot: s.cfg.Self.Boot, Stamp: p.clock(from)}
			s.FillEcho(h.Stamp, &h)
			if p.change != nil {
				p.change(to, &h)
			}
			delay := 2 * ms
			if p.quick && from == 0 {
				delay = ms / 10
			}
			p.now += delay
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
		p.quick = true // node 2 keeps the pair of a packet that was faster than all later ones
		p.exchange(30 * ms)
		p.quick = false
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
	send(8, later+20*ms, Dropped)
	send(9, 2*time.Hour, Dropped)
}

// Contradictions in a row separate two nodes for longer and longer, until the last one is
// long ago.
func TestSeparationsGetLonger(t *testing.T) {
	s := newService(1, 2)
	take(t, s, 11*ms, hello(7, 10*ms), Accepted)
	now, first := 100*ms, s.separation(1)
	require.Equal(t, s.cfg.Timing.Expires+s.cfg.Timing.ReadyTime(), first)
	for want := first; want < 2*maxSeparation; want *= 2 {
		take(t, s, now+ms, hello(7, now), Delivered)
		ahead := hello(7, now+time.Minute)
		ahead.Echo = hello(7, now).Echo
		take(t, s, now+2*ms, ahead, Faulty)
		d := min(want, maxSeparation)
		take(t, s, now+2*ms+d-1, hello(7, now+d), Dropped)
		now += 2*ms + d
	}
	now += evidenceLasts
	take(t, s, now+ms, hello(7, now), Delivered)
	ahead := hello(7, now+time.Minute)
	ahead.Echo = hello(7, now).Echo
	take(t, s, now+2*ms, ahead, Faulty)
	faulty, _ := s.Faults(at(now + 2*ms))
	require.Equal(t, 1, faulty)
	now += 2*ms + first
	take(t, s, now+ms, hello(7, now), Delivered)
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
