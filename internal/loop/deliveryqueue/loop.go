package deliveryqueue

import "github.com/failaware/failaware/broadcast"

// Stage returns the next item to fill in, which is zero. It stays where it is until
// the next call.
func (q *Queue) Stage() *Item {
	if q.spare == 0 {
		q.makeRoom()
	}
	it := q.at(q.tail + uint64(q.staged))
	q.staged++
	q.spare--
	return it
}

// Lend notes the loan of a staged item's payload.
func (i *Item) Lend(l broadcast.Loan) { i.loan = l }

// makeRoom looks how much the consumer has returned, and doubles the ring if that
// is nothing.
func (q *Queue) makeRoom() {
	q.mu.Lock()
	defer q.mu.Unlock()
	end := q.tail + uint64(q.staged)
	if end-q.head == uint64(len(q.ring)) {
		q.resize(2*len(q.ring), end)
	}
	q.spare = len(q.ring) - int(end-q.head)
}

// resize moves the items before end to a ring of another size. Borrowed slices still show
// the old one. The caller holds mu.
func (q *Queue) resize(size int, end uint64) {
	old := q.ring
	q.ring = make([]Item, size)
	for i := q.head; i != end; i++ {
		*q.at(i) = old[i&uint64(len(old)-1)]
	}
}

// shrink gives back the memory of a burst that has been over for [calmLooks]. Bursts that
// follow each other share a ring: at saturation the consumer often takes all that there is,
// and to make the ring anew for each burst costs more than the deliveries themselves.
func (q *Queue) shrink() {
	q.mu.Lock()
	defer q.mu.Unlock()
	used := q.tail - q.head
	if q.most > uint64(len(q.ring)/8) {
		q.calm = 0
	} else {
		q.calm++
	}
	q.most = used
	if q.calm < calmLooks || q.staged > 0 {
		return
	}
	size := mostSpare
	for uint64(size) < 2*used {
		size *= 2
	}
	q.resize(size, q.tail)
	q.spare = size - int(used)
	q.calm = 0
}

// Commit gives the staged items to the consumer. It reports whether that woke the
// consumer.
func (q *Queue) Commit() (woke bool) {
	if q.staged == 0 {
		return false
	}
	weight := int64(0)
	q.mu.Lock()
	for range q.staged {
		it := q.at(q.tail)
		it.incarnation = q.incarnation
		weight += it.weight()
		q.tail++
	}
	q.most = max(q.most, q.tail-q.head)
	q.backlog.Add(weight)
	woke = q.waiting
	q.waiting = false
	q.mu.Unlock()
	q.staged = 0
	if woke {
		q.wake()
	}
	return woke
}

// Returned returns how much the application has taken since the last call, and the
// loans that have ended, which are valid until the next call. The loop calls it in every
// turn.
func (q *Queue) Returned() (t Taken, ended []Return) {
	if len(q.ring) > mostSpare {
		q.shrink()
	}
	if !q.returned.Load() {
		return t, nil
	}
	q.returned.Store(false)
	clear(q.ended) // the broadcast has let go of these chunks
	q.mu.Lock()
	defer q.mu.Unlock()
	t, q.taken = q.taken, Taken{}
	q.ended, q.returns = q.returns, q.ended[:0]
	return t, q.ended
}

// Keeps reports whether the application keeps a state over incarnations.
func (q *Queue) Keeps() bool { return q.keeps.Load() }

// Behind reports whether too much waits for another incarnation to begin.
func (q *Queue) Behind() bool { return q.backlog.Load() > q.limit/2 }

// Restart begins the items of another incarnation. Items of earlier ones need not
// be reported any more when they are returned: their memory goes to the garbage
// collector with the broadcast that it belonged to.
func (q *Queue) Restart() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.incarnation++
	q.taken = Taken{}
	clear(q.returns)
	q.returns = q.returns[:0]
}

// Close says that no more items will come.
func (q *Queue) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.wake()
}
