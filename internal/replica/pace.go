package replica

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// pace limits transfers so that they leave room for operations. Pieces travel in bursts, and
// the node rests between them. It compares the rates of operations during bursts and rests,
// and rests long enough that operations lose at most mostLoss to the bursts and to making the
// snapshot. Without operations, it hardly rests.
type pace struct {
	stage   stage
	waiting bool          // for the receivers, at the end of a burst
	began   timed.Instant // of the stage
	seen    uint64        // the position of the last delivery then
	budget  int           // bytes that the burst may still send
	until   timed.Instant // the end of the rest
	free    flow          // of deliveries, in rests
	spent   flow          // of deliveries, in the snapshot and in bursts not yet accounted for
	owed    float64       // seconds lost to operations, less those made up for by rests; may be negative
}

// stage is the stage of a transfer.
type stage uint8

const (
	stageIdle     stage = iota // until its first piece
	stageSnapshot              // the snapshot
	stageBurst                 // a burst
	stageBurstEnd              // the burst: receivers still work
	stageRest                  // to compare with, and to make up for what operations have lost
)

const (
	// mostLoss is less than the tenth that operations may lose, because the receivers' work
	// on the whole snapshot is not known here.
	mostLoss = 0.08
	// The longest burst, as a multiple of its end, of the rest after that, and of its end
	// without operations.
	mostPerEnd  = 6
	mostPerRest = 9
	mostPerIdle = 20
	mostBurst   = 200 * time.Millisecond
	// leastFree is the length of the first rest, which measures the rate in rests.
	leastFree = 100 * time.Millisecond
	// mostRest bounds a rest, so that the transfer visibly progresses, and mostOwed the cost
	// of a change of the load. mostSpare bounds the extra loss that a smaller loss before
	// allows: if operations are rare, few of them during a burst may be chance. All are in
	// seconds.
	mostRest  = 2.0
	mostOwed  = 2.0
	mostSpare = 0.5
	// fewest is the rate of deliveries per second below which a group counts as idle.
	fewest = 5
)

// beginSnapshot records that the application begins to make a snapshot while no transfer runs.
func (p *pace) beginSnapshot(now timed.Instant, seen uint64) {
	p.enter(stageSnapshot, now, seen)
}

// turn begins a burst or a rest if it is due, and reports whether pieces may be sent.
// settled says that the receivers have everything that was sent.
func (p *pace) turn(now timed.Instant, seen uint64, window int, settled bool) bool {
	took, count := now.Sub(p.began), seen-p.seen
	p.waiting = false
	switch {
	case p.stage == stageIdle, p.stage == stageSnapshot && took < mostBurst:
		if p.stage == stageSnapshot {
			p.spent.add(count, took)
		}
		p.burst(now, seen, window)
	case p.stage >= stageBurstEnd && now < p.until:
		return false
	case p.stage == stageBurstEnd:
		p.spent.add(count, took)
		p.rest(stageRest, now, seen, max(p.restTime(), took*mostPerEnd/mostPerRest))
		return false
	case p.stage == stageRest:
		p.free.add(count, took)
		p.owed -= mostLoss * took.Seconds()
		p.burst(now, seen, window)
	case p.stage == stageBurst && p.budget > 0:
	case p.stage == stageBurst && count == 0 && p.free.rate() < fewest && took < mostBurst:
		p.budget = window
	case p.stage == stageBurst && !settled && took < mostBurst:
		p.waiting = true
		return false
	default:
		p.spent.add(count, took)
		part := time.Duration(mostPerEnd)
		if max(p.spent.rate(), p.free.rate()) < fewest {
			part = mostPerIdle
		}
		p.rest(stageBurstEnd, now, seen, min(took, mostBurst)/part)
		return false
	}
	return true
}

// enter begins a stage.
func (p *pace) enter(s stage, now timed.Instant, seen uint64) {
	p.stage, p.began, p.seen = s, now, seen
}

func (p *pace) burst(now timed.Instant, seen uint64, window int) {
	p.enter(stageBurst, now, seen)
	p.budget = window
}

func (p *pace) rest(s stage, now timed.Instant, seen uint64, d time.Duration) {
	p.enter(s, now, seen)
	p.until = now.Add(d)
}

// restTime returns the length of the next rest.
func (p *pace) restTime() time.Duration {
	free := p.free.rate()
	switch {
	case max(free, p.spent.rate()) < fewest:
		p.spent = flow{}
		return 0
	case free < fewest:
		return leastFree // the loss is not known yet
	}
	p.owed += p.spent.seconds - p.spent.count/free - mostLoss*p.spent.seconds
	p.owed = min(max(-mostSpare, p.owed), mostOwed)
	p.spent = flow{}
	return time.Duration(min(p.owed/mostLoss, mostRest) * float64(time.Second))
}

// flow is a decaying count of deliveries over time: later ones weigh more.
type flow struct{ count, seconds float64 }

func (f *flow) add(count uint64, took time.Duration) {
	const rest = 15.0 / 16
	f.count, f.seconds = f.count*rest+float64(count), f.seconds*rest+took.Seconds()
}

func (f *flow) rate() float64 { return f.count / max(f.seconds, 1e-6) }

// due returns when turn is next due.
func (p *pace) due() timed.Instant {
	switch {
	case p.stage >= stageBurstEnd:
		return p.until
	case p.waiting:
		return p.began.Add(mostBurst)
	}
	return 0
}
