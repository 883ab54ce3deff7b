package clockbound

import "time"

// Interval is an interval around CLOCK_REALTIME.
type Interval struct {
	// Earliest and Latest bound UTC if Status is Synchronized or FreeRunning.
	// Otherwise they have no meaning.
	Earliest, Latest time.Time
	Status           Status
}

// Reader reads a segment; see [Open]. All methods except Close are safe for
// concurrent use.
type Reader struct {
	seg    *segment
	clocks clocks
	free   func() error
}

// Now returns the current interval. It neither allocates nor locks.
//
// The error matches [ErrNotReady] if the segment has not been written yet, [ErrBusy]
// if the writer kept changing it for a bounded number of reads, or [ErrMalformed].
func (r *Reader) Now() (Interval, error) {
	var rec record
	if err := r.seg.read(&rec); err != nil {
		return Interval{}, err
	}
	// Reading REALTIME first makes a delay between the two reads widen the bounds.
	realtime := r.clocks.realtime()
	return rec.interval(realtime, r.clocks.coarse())
}

func (r *record) interval(realtime, coarse int64) (Interval, error) {
	i, err := r.at(realtime, coarse)
	if err != nil {
		return Interval{}, err
	}
	return Interval{Earliest: time.Unix(0, i.earliest), Latest: time.Unix(0, i.latest), Status: i.status}, nil
}

// Close unmaps the segment. No other method may run during or after Close.
func (r *Reader) Close() error { return r.free() }
