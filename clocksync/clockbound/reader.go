package clockbound

import "time"

// Interval is what CLOCK_REALTIME showed, with its bounds.
type Interval struct {
	// Earliest and Latest are around UTC, if Status is Synchronized or
	// FreeRunning; otherwise they mean nothing.
	Earliest, Latest time.Time
	Status           Status
}

// Reader reads a segment. Make one with [Open]. All methods are safe for
// concurrent use, but for Close.
type Reader struct {
	seg    *segment
	clocks clocks
	free   func() error
}

// Now returns the time with its bounds. It allocates nothing, and takes no lock.
//
// The error matches [ErrNotReady] if nothing has been written yet, [ErrBusy] if no
// whole record was found in a bounded number of tries, or [ErrMalformed].
func (r *Reader) Now() (Interval, error) {
	var rec record
	if err := r.seg.read(&rec); err != nil {
		return Interval{}, err
	}
	// REALTIME first: who is held up between the two gets wider bounds.
	realtime := r.clocks.realtime()
	i, err := rec.at(realtime, r.clocks.coarse())
	if err != nil {
		return Interval{}, err
	}
	return Interval{Earliest: time.Unix(0, i.earliest), Latest: time.Unix(0, i.latest), Status: i.status}, nil
}

// Close ends the reading. No other method may run then, or be called afterwards.
func (r *Reader) Close() error { return r.free() }
