package eventring

// Add adds the next event, whose sequence number is that after [Ring.Last].
func (r *Ring[E]) Add(e E) {
	seq := r.last.Load() + 1
	r.records[seq%uint64(len(r.records))].Store(&record[E]{seq, e})
	r.last.Store(seq)
	if next := r.next.Swap(nil); next != nil {
		close(*next)
	}
}

// Close says that no more events will come.
func (r *Ring[E]) Close() { close(r.closed) }
