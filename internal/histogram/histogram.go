// Package histogram counts durations in buckets, cheaply enough for each packet of the
// loop.
package histogram

import (
	"fmt"
	"math/bits"
	"time"
)

// Buckets is the number of buckets with an upper bound.
const Buckets = 24

// Durations counts durations. The zero value is empty. It is a plain value: its owner
// copies it to show it.
type Durations struct {
	Counts [Buckets + 1]uint64 // of the durations in each bucket; the last one has no bound
	Sum    time.Duration       // of all durations
}

// Bound returns the upper bound of a bucket, which is part of it: 1 µs for the first one,
// and twice that of the bucket before for each other one.
func Bound(bucket int) time.Duration { return time.Microsecond << bucket }

// Note counts a duration. A negative one counts as zero.
func (h *Durations) Note(d time.Duration) {
	d = max(d, 0)
	us := uint64(d+time.Microsecond-1) / uint64(time.Microsecond)
	i := 0
	if us > 1 {
		i = min(bits.Len64(us-1), Buckets)
	}
	h.Counts[i]++
	h.Sum += d
}

// String returns the number of durations and their mean.
func (h Durations) String() string {
	n := h.Total()
	if n == 0 {
		return "no durations"
	}
	return fmt.Sprintf("%d durations of %v on average", n, h.Sum/time.Duration(n))
}

// Total returns how many durations were counted.
func (h Durations) Total() (n uint64) {
	for _, c := range h.Counts {
		n += c
	}
	return n
}
