package eventring

import "context"

// After returns the first kept event after a sequence number, with its own number. If
// events in between are no longer kept, it returns no event: missed is their number,
// and sequence that of the last of them. ok is false if there is nothing after seq yet.
func (r *Ring[E]) After(seq uint64) (e E, sequence, missed uint64, ok bool) {
	last, size := r.last.Load(), uint64(len(r.records))
	if seq >= last {
		return e, seq, 0, false
	}
	if last-seq <= size {
		if rec := r.records[(seq+1)%size].Load(); rec.sequence == seq+1 {
			return rec.event, seq + 1, 0, true
		}
		last = r.last.Load() // it was just overwritten, perhaps by an event that is not counted yet
	}
	lost := max(last-size, seq+1) // the last event that is not kept
	return e, lost, lost - seq, true
}

// Wait waits until there is an event after a sequence number. It returns false if none
// will come, or ctx is done.
func (r *Ring[E]) Wait(ctx context.Context, seq uint64) bool {
	for {
		// The channel first: an event that is added after the look then closes it.
		next, closed := r.changed(), r.isClosed()
		switch {
		case ctx.Err() != nil:
			return false
		case seq < r.last.Load():
			return true
		case closed:
			return false
		}
		select {
		case <-ctx.Done():
		case <-next:
		case <-r.closed:
		}
	}
}

// changed returns a channel that is closed at the next event.
func (r *Ring[E]) changed() <-chan struct{} {
	for {
		if next := r.next.Load(); next != nil {
			return *next
		}
		next := make(chan struct{})
		if r.next.CompareAndSwap(nil, &next) {
			return next
		}
	}
}

func (r *Ring[E]) isClosed() bool {
	select {
	case <-r.closed:
		return true
	default:
		return false
	}
}
