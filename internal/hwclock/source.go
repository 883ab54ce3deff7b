package hwclock

import (
	"math"
	"time"

	"github.com/failaware/failaware/timed"
)

// A source is the three system clocks that the hardware clock is composed of,
// in nanoseconds. Implementations are safe for concurrent use and do not
// allocate. Tests put a simulated machine behind it, which lets time pass
// between the readings.
type source interface {
	raw() int64       // not slewed, stops asleep
	monotonic() int64 // slewed, stops asleep
	boottime() int64  // slewed exactly as monotonic, counts time asleep
}

// quickSource is a source that reads its clocks faster together than one by one.
type quickSource interface {
	// three reads RAW, MONOTONIC and BOOTTIME, in this order.
	three() (raw, monotonic, boottime int64)
}

// together returns a function that reads the three clocks of a source in this order.
func together(s source) func() (raw, monotonic, boottime int64) {
	if q, ok := s.(quickSource); ok {
		return q.three
	}
	return func() (raw, monotonic, boottime int64) { return s.raw(), s.monotonic(), s.boottime() }
}

const (
	// tightEnough is the distance of the two readings of RAW with which a
	// composition is accepted at once.
	tightEnough = 50 * time.Microsecond
	// maxTries bounds the work of one reading on a machine so busy that no try
	// is tight.
	maxTries = 8
)

// composed is one reading of the three clocks.
type composed struct {
	now    timed.Instant // H
	asleep time.Duration // D = BOOTTIME − MONOTONIC, too large by at most 1.1·gap
	gap    time.Duration // RAW that passed between the first and the last reading
}

// compose reads RAW, MONOTONIC, BOOTTIME and RAW again, in this order. RAW
// comes first, so whatever passes until BOOTTIME is read makes H later, never
// earlier than its true value at the first reading; and MONOTONIC comes before
// BOOTTIME, so D is never too small. A delay of more than 50 µs makes another
// try worthwhile; the tightest try counts.
func compose(s source) composed {
	var best composed
	tightest := uint64(math.MaxUint64)
	for range maxTries {
		r0 := s.raw()
		m := s.monotonic()
		b := s.boottime()
		r1 := s.raw()
		// A RAW that ran backwards is a huge unsigned gap: the try counts only
		// if there is no better one, and then looks like a suspend, which is
		// the safe way to misread a broken clock.
		if gap := uint64(r1 - r0); gap < tightest {
			tightest = gap
			best = composed{
				now:    timed.Instant(r0 + b - m),
				asleep: time.Duration(b - m),
				gap:    time.Duration(r1 - r0),
			}
		}
		if tightest <= uint64(tightEnough) {
			break
		}
	}
	return best
}
