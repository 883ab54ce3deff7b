package replica

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// pace has transfers leave room for operations. Pieces travel in bursts, and this node
// rests between two bursts. It counts the operations in both, and rests so long that they
// lose no more than mostLoss by its bursts. While none come, it hardly rests.
type pace struct {
	resting bool
	waiting bool          // for the receivers, at the end of a burst
	began   timed.Instant // of the burst or the rest
	seen    uint64        // the position of the last delivery then
	left    int           // bytes that the burst may still send
	until   timed.Instant // the end of the rest
	busy    flow          // of deliveries, in bursts
	free    flow          // and in rests
}

const (
	mostLoss  = 0.1
	leastRest = 1.0 / 9  // of the length of a burst, so that there is something to compare with
	idleRest  = 1.0 / 20 // the same, while no operations come
	mostBurst = 200 * time.Millisecond
	// fewest is the deliveries a second below which a group does nothing.
	fewest = 5
)

// turn begins a burst or a rest if it is time, and reports whether pieces may be sent.
// settled says that the receivers have all that was sent.
func (p *pace) turn(now timed.Instant, seen uint64, window int, settled bool) bool {
	took, count := now.Sub(p.began), seen-p.seen
	p.waiting = false
	switch {
	case p.began == 0:
		p.burst(now, seen, window)
	case p.resting && now < p.until:
		return false
	case p.resting:
		p.free.add(count, took)
		p.burst(now, seen, window)
	case p.left > 0:
	case count == 0 && p.free.rate() < fewest && took < mostBurst:
		p.left = window
	case !settled && took < mostBurst:
		p.waiting = true
		return false
	default:
		p.busy.add(count, took)
		p.resting, p.until = true, now.Add(p.rest(min(took, mostBurst)))
		p.began, p.seen = now, seen
		return false
	}
	return true
}

func (p *pace) burst(now timed.Instant, seen uint64, window int) {
	p.resting, p.began, p.seen, p.left = false, now, seen, window
}

// rest returns how long to rest after a burst.
func (p *pace) rest(burst time.Duration) time.Duration {
	share := 1/mostLoss - 1
	switch busy, free := p.busy.rate(), p.free.rate(); {
	case busy < fewest && free < fewest:
		share = idleRest
	case free > 0:
		share = max(leastRest, (1-busy/free)/mostLoss-1)
	}
	return time.Duration(share * float64(burst))
}

// flow is how many deliveries came in some time, in which what is later counts more.
type flow struct{ count, seconds float64 }

func (f *flow) add(count uint64, took time.Duration) {
	const rest = 15.0 / 16
	f.count, f.seconds = f.count*rest+float64(count), f.seconds*rest+took.Seconds()
}

func (f *flow) rate() float64 { return f.count / max(f.seconds, 1e-6) }

// due returns when turn is next due.
func (p *pace) due() timed.Instant {
	switch {
	case p.resting:
		return p.until
	case p.waiting:
		return p.began.Add(mostBurst)
	}
	return 0
}
