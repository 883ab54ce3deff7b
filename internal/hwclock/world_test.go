package hwclock

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/failaware/failaware/timed"
)

// world is a simulated machine in which time passes before and after every reading of a
// clock: mostly nanoseconds, sometimes as much as a scheduler's turn. Its MONOTONIC and
// BOOTTIME are slewed at a rate that changes, and it can be suspended at any moment.
type world struct {
	rng       *rand.Rand
	rate      float64 // of MONOTONIC, against RAW
	r, m, s   float64 // RAW, MONOTONIC, time asleep
	busy      bool    // delays of a machine under load
	sleepy    bool    // suspended now and then between two readings
	suspends  uint32
	reads     int
	first     timed.Instant // true H at the first reading since mark
	last      timed.Instant // true H at the last reading
	lastAwake float64       // RAW at the last reading
	awake     float64       // the longest time between two readings since mark
}

func newWorld(seed uint64) *world {
	return &world{rng: rand.New(rand.NewPCG(seed, 1)), rate: 1, r: 1e15, m: 9e14, s: 3e12}
}

func (w *world) true() timed.Instant { return timed.Instant(w.r + w.s) }

func (w *world) pass(d float64) {
	w.r += d
	w.m += d * w.rate
}

func (w *world) suspend(d time.Duration) {
	w.s += float64(d)
	w.suspends++
}

// delay lets time pass around a reading.
func (w *world) delay() {
	d := 5 + 40*w.rng.ExpFloat64()
	if w.busy && w.rng.IntN(6) == 0 {
		d += 100_000 * w.rng.ExpFloat64()
	}
	w.pass(d)
	if w.rng.IntN(50) == 0 { // the fastest slewing that synchronization uses, either way
		w.rate = 1 + (w.rng.Float64()*2-1)*0.083333
	}
	if w.sleepy && w.rng.IntN(200) == 0 {
		w.suspend(10*time.Millisecond + time.Duration(w.rng.Int64N(int64(time.Hour))))
	}
}

func (w *world) mark() { w.reads, w.awake = 0, 0 }

func (w *world) reading(clock func() float64) int64 {
	w.delay()
	value := clock()
	w.last = w.true()
	if w.reads == 0 {
		w.first = w.last
	} else {
		w.awake = max(w.awake, w.r-w.lastAwake)
	}
	w.lastAwake = w.r
	w.reads++
	w.delay()
	return int64(value)
}

func (w *world) raw() int64       { return w.reading(func() float64 { return w.r }) }
func (w *world) monotonic() int64 { return w.reading(func() float64 { return w.m }) }
func (w *world) boottime() int64  { return w.reading(func() float64 { return w.m + w.s }) }

// checkClock reads the clock of a simulated machine many times and returns an
// error at the first reading that is wrong: H outside of its true values at the
// first and the last reading of a system clock, H running backwards, or a
// suspend that was invented, counted twice, or missed.
func checkClock(seed uint64, readings int) error {
	w := newWorld(seed)
	w.busy, w.sleepy = seed%2 == 0, seed%3 == 0
	c := newClock(w)
	sure := w.suspends // of these, the first reading may have seen some already
	var previous timed.Instant
	for i := range readings {
		before := w.suspends
		w.mark()
		got := c.Read()
		// MONOTONIC and BOOTTIME are slewed between their readings, which
		// stretches that time by one twelfth at most; two nanoseconds are the
		// rounding of the simulation.
		slewed := timed.Instant(w.awake/12 + 2)
		switch {
		case got.Now < w.first-2:
			return fmt.Errorf("seed %d, reading %d: H = %d is %v before its true value at the first reading", seed, i, got.Now, w.first.Sub(got.Now))
		case got.Now > w.last+slewed:
			return fmt.Errorf("seed %d, reading %d: H = %d is %v after its true value at the last reading", seed, i, got.Now, got.Now.Sub(w.last))
		case got.Now < previous:
			return fmt.Errorf("seed %d, reading %d: H ran backwards by %v", seed, i, previous.Sub(got.Now))
		case !w.sleepy && got.Era != 0:
			return fmt.Errorf("seed %d, reading %d: a suspend was invented", seed, i)
		case got.Era > w.suspends:
			return fmt.Errorf("seed %d, reading %d: %d suspends detected after %d", seed, i, got.Era, w.suspends)
		case before > sure && got.Era == 0:
			return fmt.Errorf("seed %d, reading %d: a suspend was missed", seed, i)
		}
		previous = got.Now - slewed
	}
	return nil
}
