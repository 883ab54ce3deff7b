package journal

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Defaults of [WriterOptions].
const (
	DefaultPending = 4 << 20
	DefaultRetry   = time.Second
)

// IdleMark is how long a writer has nothing to write before it marks its journal. To do so
// between two batches would delay whoever waits for the first one.
const IdleMark = 50 * time.Millisecond

// WriterOptions are options of a writer. Zero values stand for the defaults.
type WriterOptions struct {
	// Pending is how many bytes of records may wait for the disk before Append waits.
	Pending int
	// Retry is how long the writer waits before it tries again to write to a full disk.
	Retry time.Duration
	// OnDurable, if not nil, is called after each batch with the number of the last
	// record on the disk. OnFull is called when the disk becomes full, and with nil when
	// it no longer is. One goroutine calls both; they must not block.
	OnDurable func(last uint64)
	OnFull    func(err error)
}

// Writer appends records to a journal in a goroutine of its own. All records that wait
// when a batch has been written are the next batch. Methods are safe for concurrent use.
type Writer struct {
	journal *Journal
	opts    WriterOptions
	wake    chan struct{} // records wait, or the writer is closed
	done    chan struct{} // closed when the goroutine has ended

	mu     sync.Mutex // held for all of queue but Write
	queue  *Queue
	roomy  chan struct{} // closed when what waited was taken
	closed bool
	err    error // why the goroutine has ended
}

// NewWriter starts a writer. The journal must not be appended to otherwise until it is
// closed.
func NewWriter(j *Journal, o WriterOptions) *Writer {
	if o.Pending == 0 {
		o.Pending = DefaultPending
	}
	if o.Retry == 0 {
		o.Retry = DefaultRetry
	}
	w := &Writer{journal: j, opts: o, queue: NewQueue(j, o), wake: make(chan struct{}, 1), done: make(chan struct{}), roomy: make(chan struct{})}
	go w.run()
	return w
}

// Append hands records over, which it copies, and returns the number of the last one. They
// are in one batch, and on the disk once OnDurable has said so. Append waits while more
// than Pending bytes wait. The error is the cause of ctx, [ErrClosed] after Close, or why
// the journal has failed, for good.
func (w *Writer) Append(ctx context.Context, records ...[]byte) (last uint64, err error) {
	for {
		w.mu.Lock()
		switch size, some := w.queue.Waits(); {
		case w.err != nil:
			defer w.mu.Unlock()
			return 0, w.err
		case w.closed:
			defer w.mu.Unlock()
			return 0, ErrClosed
		case !some || size <= w.opts.Pending:
			defer w.mu.Unlock()
			w.signal()
			return w.queue.Add(records...), nil
		}
		roomy := w.roomy
		w.mu.Unlock()
		select {
		case <-roomy:
		case <-w.done:
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}

func (w *Writer) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Err returns why the journal has failed, or nil.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Done is closed when the writer has ended, after Close or because the journal failed.
func (w *Writer) Done() <-chan struct{} { return w.done }

// Close writes what waits, unless the disk is full, and closes the journal. The error
// says that records that were handed over are not on the disk.
func (w *Writer) Close() error {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.signal()
	<-w.done
	err := w.Err()
	if errors.Is(err, ErrFull) && !w.queue.unwritten() {
		err = nil // the end of a segment has no room, which another process writes
	}
	return errors.Join(err, w.journal.Close())
}

// run writes batches until the writer is closed.
func (w *Writer) run() {
	defer close(w.done)
	idle := time.NewTimer(IdleMark)
	defer idle.Stop()
	for {
		some, more := w.next()
		switch {
		case some:
			if err := w.write(); err != nil {
				w.mu.Lock()
				w.err = err
				w.mu.Unlock()
				return
			}
		case !more:
			return
		default:
			idle.Reset(IdleMark)
			w.await(idle)
		}
	}
}

// await waits for more to write, and marks the journal when idle fires first.
func (w *Writer) await(idle *time.Timer) {
	select {
	case <-w.wake:
	case <-idle.C:
		w.journal.Mark()
		<-w.wake
	}
}

// next takes all records that wait, if there are some. It reports whether there may be more.
func (w *Writer) next() (some, more bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if some = w.queue.Take(); some {
		close(w.roomy)
		w.roomy = make(chan struct{})
	}
	return some, !w.closed
}

// write writes a batch. While the disk is full it waits, and tries again.
func (w *Writer) write() error {
	for {
		if err := w.queue.Write(); !errors.Is(err, ErrFull) || !w.pause() {
			return err
		}
	}
}

// pause waits before another attempt. It reports false when the writer is closed.
func (w *Writer) pause() bool {
	timer := time.NewTimer(w.opts.Retry)
	defer timer.Stop()
	for {
		w.mu.Lock()
		closed := w.closed
		w.mu.Unlock()
		if closed {
			return false
		}
		select {
		case <-timer.C:
			return true
		case <-w.wake:
		}
	}
}
