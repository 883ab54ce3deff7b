package journal

import "errors"

// Queue is what waits for a journal: records, and the batch that is being written. All
// records that wait when a batch has been written are the next one. A [Writer] drives a
// queue with a goroutine, and the simulator with its events.
//
// Write may run beside Add and Waits; other calls must not run at the same time.
type Queue struct {
	journal *Journal
	waiting Batch
	last    uint64 // the number of the last record that was added
	batch   Batch  // being written
	full    bool   // the disk is
	// onDurable and onFull are those of [WriterOptions].
	onDurable func(last uint64)
	onFull    func(err error)
}

// NewQueue returns an empty queue. The options need no Pending and no Retry. The journal
// must not be appended to otherwise.
func NewQueue(j *Journal, o WriterOptions) *Queue {
	q := &Queue{journal: j, last: j.Last(), onDurable: o.OnDurable, onFull: o.OnFull}
	if q.onDurable == nil {
		q.onDurable = func(uint64) {}
	}
	if q.onFull == nil {
		q.onFull = func(error) {}
	}
	return q
}

// Add adds records, which it copies, and returns the number of the last one. They are in
// one batch.
func (q *Queue) Add(records ...[]byte) (last uint64) {
	for _, r := range records {
		q.waiting.Add(r)
	}
	q.last += uint64(len(records))
	return q.last
}

// Waits returns how many bytes of records wait, and whether there are any.
func (q *Queue) Waits() (size int, some bool) { return q.waiting.Size(), q.waiting.Count() > 0 }

// unwritten reports whether records were added that are not on the disk, after an error of Write.
func (q *Queue) unwritten() bool { return q.waiting.Count()+q.batch.Count() > 0 }

// Take makes all records that wait the batch to write, once the one before is written. It
// reports false if there are none, and nothing else is left to write. An end of a segment for
// which the disk had no room goes with a batch of no records.
func (q *Queue) Take() bool {
	if q.waiting.Count() == 0 && len(q.journal.ending) == 0 {
		return false
	}
	q.batch, q.waiting = q.waiting, q.batch
	return true
}

// Write makes one attempt to write the batch, and reports what comes of it. If the error
// matches [ErrFull] there may be another attempt; after any other the journal has failed.
func (q *Queue) Write() error {
	err := q.journal.Append(&q.batch)
	full := errors.Is(err, ErrFull)
	if full && !q.full {
		q.onFull(err)
	}
	if err == nil {
		if q.full {
			q.onFull(nil)
		}
		q.batch.Reset()
		q.onDurable(q.journal.Last())
	}
	q.full = full
	return err
}
