package lab

import (
	"math/bits"
	"time"

	"github.com/failaware/failaware/timed"
)

// PhiAccrual is the φ-accrual failure detector of Hayashibara and others: every process
// sends heartbeats, and is suspected when the probability that its next heartbeat still
// comes is below 10^−φ, by a normal distribution with the mean and deviation of the last
// intervals.
type PhiAccrual struct {
	Self   timed.NodeID
	Peers  timed.Set
	Period time.Duration
	Phi    int // 1 to MaxPhi
	// Least is the smallest standard deviation, so that after very regular heartbeats a
	// slightly late one causes no suspicion.
	Least time.Duration

	next  timed.Instant
	heard [timed.MaxNodes + 1]*arrivals
}

// Limits of the φ-accrual detector.
const (
	PhiWindow = 100 // intervals that are kept of each process
	MaxPhi    = 12
)

// quantile holds, for each φ, the x in thousandths for which a normal variable is
// above mean + x deviations with probability 10^−φ. A table and integers keep runs
// the same on machines whose floating point differs in the last bit.
var quantile = [MaxPhi + 1]int64{0, 1282, 2326, 3090, 3719, 4265, 4753, 5199, 5612, 5998, 6361, 6706, 7034}

// arrivals are the last intervals between heartbeats of one process, in
// microseconds.
type arrivals struct {
	last    timed.Instant
	n, at   int
	window  [PhiWindow]int64
	sum     int64
	squares int64
}

// maxInterval bounds an interval, so that no sum of squares overflows.
const maxInterval = 100 * time.Second

func (a *arrivals) add(d time.Duration) {
	x := min(max(d, 0), maxInterval).Microseconds()
	if a.n == PhiWindow {
		old := a.window[a.at]
		a.sum, a.squares = a.sum-old, a.squares-old*old
	} else {
		a.n++
	}
	a.window[a.at] = x
	a.at = (a.at + 1) % PhiWindow
	a.sum, a.squares = a.sum+x, a.squares+x*x
}

// patience returns how long after a heartbeat its sender is not suspected.
func (d *PhiAccrual) patience(a *arrivals) time.Duration {
	n := int64(a.n)
	mean := a.sum / n
	deviation := max(isqrt(max(a.squares/n-mean*mean, 0)), d.Least.Microseconds())
	return time.Duration(mean+deviation*quantile[d.Phi]/1000) * time.Microsecond
}

// isqrt returns ⌊√x⌋, by Newton's iteration from above.
func isqrt(x int64) int64 {
	if x < 2 {
		return x
	}
	r := int64(1) << ((bits.Len64(uint64(x)) + 1) / 2)
	for {
		next := (r + x/r) / 2
		if next >= r {
			return r
		}
		r = next
	}
}

// NewPhiAccrual returns a detector that begins with an estimate of its own
// period, and a threshold of 8.
func NewPhiAccrual(self timed.NodeID, all timed.Set, p Pace, now timed.Instant) *PhiAccrual {
	d := &PhiAccrual{Self: self, Peers: all.Without(self), Period: p.Period, Phi: 8, Least: p.OneWay, next: now}
	for id := range d.Peers.All() {
		a := &arrivals{last: now}
		a.add(2 * p.Period)
		d.heard[id] = a
	}
	return d
}

// HandleMessage implements [Detector].
func (d *PhiAccrual) HandleMessage(now timed.Instant, from timed.NodeID, m *Message, out []Effect) []Effect {
	if a := d.heard[from]; m.Kind == Heartbeat && a != nil {
		// The silence of a process that was down is no interval between heartbeats.
		if now.Sub(a.last) <= d.patience(a) {
			a.add(now.Sub(a.last))
		}
		a.last = now
	}
	return out
}

// HandleTimeout implements [Detector].
func (d *PhiAccrual) HandleTimeout(now timed.Instant, out []Effect) []Effect {
	if now < d.next {
		return out
	}
	d.next = now.Add(d.Period)
	return toAll(d.Peers, Message{Kind: Heartbeat}, out)
}

// Deadline implements [Detector].
func (d *PhiAccrual) Deadline() timed.Instant { return d.next }

// Alive implements [Detector].
func (d *PhiAccrual) Alive(now timed.Instant) timed.Set {
	s := timed.SetOf(d.Self)
	for id := range d.Peers.All() {
		if a := d.heard[id]; now.Sub(a.last) <= d.patience(a) {
			s.Add(id)
		}
	}
	return s
}
