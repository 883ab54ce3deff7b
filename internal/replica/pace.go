package replica

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// pace has transfers leave room for operations. Pieces travel in bursts, and this node
// rests between two bursts. It compares the operations in both, and rests so long that they
// lose no more than mostLoss by the bursts and by the snapshot that was made for them.
// While none come, it hardly rests.
type pace struct {
	stage   stage
	waiting bool          // for the receivers, at the end of a burst
	began   timed.Instant // of the stage
	seen    uint64        // the position of the last delivery then
	left    int           // bytes that the burst may still send
	until   timed.Instant // the end of the rest
	free    flow          // of deliveries, in rests
	spent   flow          // of deliveries, in the snapshot and in bursts that are not accounted for yet
	owed    float64       // seconds that operations have lost, and rests have not made up for; below 0: to spare
}

// stage is what a transfer does.
type stage uint8

const (
	idles stage = iota // until its first piece
	makes              // the snapshot
	sends              // a burst
	ends               // the burst: receivers still work
	rests              // to compare with, and to make up for what operations have lost
)

const (
	// mostLoss is less than the tenth that operations may lose: nobody knows here what
	// receivers will do with the whole snapshot.
	mostLoss = 0.08
	// A burst is at most so many times as long as its end, and as the rest behind that; while
	// no operations come, as its end.
	mostPerEnd  = 6
	mostPerRest = 9
	mostPerIdle = 20
	mostBurst   = 200 * time.Millisecond
	// leastFree is the length of a rest from which the rate in rests is to be known.
	leastFree = 100 * time.Millisecond
	// mostRest bounds a rest, so that one sees the transfer go on, and mostOwed what a
	// change of the load can cost it. mostSpare bounds what operations may lose because
	// they have lost less before: if few come, chance decides how many a burst meets. All
	// are in seconds.
	mostRest  = 2.0
	mostOwed  = 2.0
	mostSpare = 0.5
	// fewest is the deliveries a second below which a group does nothing.
	fewest = 5
)

// make notes that the application begins to make a snapshot, while nothing is being sent.
func (p *pace) make(now timed.Instant, seen uint64) {
	p.enter(makes, now, seen)
}

// turn begins a burst or a rest if it is time, and reports whether pieces may be sent.
// settled says that the receivers have all that was sent.
func (p *pace) turn(now timed.Instant, seen uint64, window int, settled bool) bool {
	took, count := now.Sub(p.began), seen-p.seen
	p.waiting = false
	switch {
	case p.stage == idles, p.stage == makes && took < mostBurst:
		if p.stage == makes {
			p.spent.add(count, took)
		}
		p.burst(now, seen, window)
	case p.stage >= ends && now < p.until:
		return false
	case p.stage == ends:
		p.spent.add(count, took)
		p.rest(rests, now, seen, max(p.owes(), took*mostPerEnd/mostPerRest))
		return false
	case p.stage == rests:
		p.free.add(count, took)
		p.owed -= mostLoss * took.Seconds()
		p.burst(now, seen, window)
	case p.stage == sends && p.left > 0:
	case p.stage == sends && count == 0 && p.free.rate() < fewest && took < mostBurst:
		p.left = window
	case p.stage == sends && !settled && took < mostBurst:
		p.waiting = true
		return false
	default:
		p.spent.add(count, took)
		part := time.Duration(mostPerEnd)
		if max(p.spent.rate(), p.free.rate()) < fewest {
			part = mostPerIdle
		}
		p.rest(ends, now, seen, min(took, mostBurst)/part)
		return false
	}
	return true
}

// enter begins a stage.
func (p *pace) enter(s stage, now timed.Instant, seen uint64) {
	p.stage, p.began, p.seen = s, now, seen
}

func (p *pace) burst(now timed.Instant, seen uint64, window int) {
	p.enter(sends, now, seen)
	p.left = window
}

func (p *pace) rest(s stage, now timed.Instant, seen uint64, d time.Duration) {
	p.enter(s, now, seen)
	p.until = now.Add(d)
}

// owes returns for how long to rest.
func (p *pace) owes() time.Duration {
	free := p.free.rate()
	switch {
	case max(free, p.spent.rate()) < fewest:
		p.spent = flow{}
		return 0
	case free < fewest:
		return leastFree // it is not known yet what was lost
	}
	p.owed += p.spent.seconds - p.spent.count/free - mostLoss*p.spent.seconds
	p.owed = min(max(-mostSpare, p.owed), mostOwed)
	p.spent = flow{}
	return time.Duration(min(p.owed/mostLoss, mostRest) * float64(time.Second))
}

// flow is a number of deliveries in some time. Later ones weigh more.
type flow struct{ count, seconds float64 }

func (f *flow) add(count uint64, took time.Duration) {
	const rest = 15.0 / 16
	f.count, f.seconds = f.count*rest+float64(count), f.seconds*rest+took.Seconds()
}

func (f *flow) rate() float64 { return f.count / max(f.seconds, 1e-6) }

// due returns when turn is next due.
func (p *pace) due() timed.Instant {
	switch {
	case p.stage >= ends:
		return p.until
	case p.waiting:
		return p.began.Add(mostBurst)
	}
	return 0
}
