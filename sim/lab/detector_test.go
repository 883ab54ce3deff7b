package lab

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// watcher is a machine that elects the best that its detector does not suspect,
// and says nothing.
type watcher struct {
	self timed.NodeID
	r    *Ranking
	seen timed.Set
}

func (w *watcher) Start(_ timed.Instant, alive timed.Set, out []Effect) []Effect {
	w.seen = alive
	return out
}

func (w *watcher) HandleMessage(_ timed.Instant, _ timed.NodeID, _ *Message, _ timed.Set, out []Effect) []Effect {
	return out
}

func (w *watcher) HandleTimeout(_ timed.Instant, alive timed.Set, out []Effect) []Effect {
	w.seen = alive
	return out
}

func (w *watcher) Deadline() timed.Instant { return timed.Never }

func (w *watcher) Elect(_ timed.Instant, _ timed.Set, out []Effect) []Effect { return out }

func (w *watcher) Claim(timed.Instant) Claim { return following(w.self, w.r.Best(w.seen)) }

func watching(d DetectorKind) Algorithm {
	return Algorithm{Name: "watch", Detector: d, Machine: func(self timed.NodeID, r *Ranking, _ Pace) Machine { return &watcher{self: self, r: r} }}
}

// A crash is suspected by all within a time-out and two periods, and nobody
// suspects anybody while nothing is wrong.
func TestDetectorsAreCompleteAndAccurate(t *testing.T) {
	p := PaceOf(timed.LAN())
	for _, d := range []DetectorKind{ByPing, ByPhi, ByFastMessages} {
		for seed := range uint64(5) {
			s := Scenario{Name: "one", Nodes: 5, Duration: 30 * time.Second, Faults: scripted(fault.Fault{At: 10 * time.Second, Kind: fault.Crash, Node: 1})}
			o, err := Run(watching(d), s, seed)
			require.NoError(t, err)
			require.Equal(t, 2, o.Changes, "1 leads, and then 2")
			require.NoError(t, o.violation(t, Safety))
			require.LessOrEqual(t, o.Worst, p.Suspect+2*p.Period)
			require.Zero(t, o.Relapses)
		}
	}
}

// Only the alive set of fast messages takes a process for gone whose messages
// still come, but late; and both ends of a link that works one way only.
func TestOnlyFastMessagesSeeLateness(t *testing.T) {
	for d, splits := range map[DetectorKind]bool{ByPing: false, ByPhi: false, ByFastMessages: true} {
		o, err := Run(watching(d), scenario(t, "bridge"), 1)
		require.NoError(t, err)
		if splits {
			require.NoError(t, o.violation(t, T))
		} else {
			require.ErrorContains(t, o.violation(t, T), "{5 6 7 8} has no leader")
		}
	}
}

func TestPingTimeout(t *testing.T) {
	p := PaceOf(timed.LAN())
	d := NewPingTimeout(1, timed.SetOf(1, 2), p, 1000)
	out := d.HandleTimeout(1000, nil)
	require.Equal(t, []Effect{{2, Message{Kind: Ping, Start: 1000}}}, out)
	require.Empty(t, d.HandleTimeout(1001, nil))
	require.Equal(t, []Effect{{2, Message{Kind: Pong, Start: 7}}}, d.HandleMessage(1002, 2, &Message{Kind: Ping, Start: 7}, nil))
	end := timed.Instant(1000).Add(p.Suspect)
	require.True(t, d.Alive(end).Has(2))
	require.False(t, d.Alive(end+1).Has(2))
	d.HandleMessage(5000, 2, &Message{Kind: Pong, Start: 2000}, nil)
	require.True(t, d.Alive(end+1000).Has(2), "the time of a ping that was answered counts, not of the answer")
	require.False(t, d.Alive(end+1001).Has(2))
	d.HandleMessage(5000, 2, &Message{Kind: Pong, Start: 9000}, nil)
	require.False(t, d.Alive(end+1001).Has(2), "an answer to no ping")
}

// The more irregular the heartbeats, the longer the patience; and heartbeats that
// keep their period exactly have the least deviation.
func TestPhiAccrualAdapts(t *testing.T) {
	p := PaceOf(timed.LAN())
	patience := func(jitter time.Duration) time.Duration {
		d := NewPhiAccrual(1, timed.SetOf(1, 2), p, 0)
		at := timed.Instant(0)
		for i := range 3 * PhiWindow {
			at = at.Add(p.Period + time.Duration(i%2)*jitter)
			d.HandleMessage(at, 2, &Message{Kind: Heartbeat}, nil)
		}
		left := d.patience(d.heard[2])
		require.True(t, d.Alive(at.Add(left)).Has(2))
		require.False(t, d.Alive(at.Add(left+1)).Has(2))
		return left
	}
	require.Equal(t, p.Period+time.Duration(p.OneWay.Microseconds()*5612/1000)*time.Microsecond, patience(0))
	require.Greater(t, patience(40*time.Millisecond), patience(0))
	for phi := 2; phi <= MaxPhi; phi++ {
		require.Greater(t, quantile[phi], quantile[phi-1])
	}
}

func TestSquareRoot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Int64Range(0, 1<<61).Draw(t, "x")
		r := isqrt(x)
		require.True(t, r*r <= x && (r+1)*(r+1) > x, "√%d = %d", x, r)
	})
}

// The silence of a process that was down says nothing of its heartbeats.
func TestPhiAccrualForgetsSilences(t *testing.T) {
	p := PaceOf(timed.LAN())
	d := NewPhiAccrual(1, timed.SetOf(1, 2), p, 0)
	before := d.patience(d.heard[2])
	d.HandleMessage(timed.Instant(10*time.Second), 2, &Message{Kind: Heartbeat}, nil)
	require.Equal(t, before, d.patience(d.heard[2]))
	require.True(t, d.Alive(timed.Instant(10*time.Second)).Has(2))
	d.HandleMessage(timed.Instant(10*time.Second), 3, &Message{Kind: Heartbeat}, nil)
	require.False(t, d.Alive(timed.Instant(10*time.Second)).Has(3), "a stranger")
}
