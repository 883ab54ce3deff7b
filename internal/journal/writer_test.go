package journal_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/journal"
	"github.com/failaware/failaware/internal/journal/disktest"
)

// reports is what a writer has reported.
type reports struct {
	mu      sync.Mutex
	durable []uint64
	full    []error
}

func (r *reports) options() journal.WriterOptions {
	return journal.WriterOptions{
		OnDurable: func(last uint64) { r.mu.Lock(); defer r.mu.Unlock(); r.durable = append(r.durable, last) },
		OnFull:    func(err error) { r.mu.Lock(); defer r.mu.Unlock(); r.full = append(r.full, err) },
	}
}

func openOn(t testing.TB, d *disktest.Disk) *journal.Journal {
	j, err := journal.OpenOn(d, journal.Options{Segment: 1 << 16})
	require.NoError(t, err)
	return j
}

// What comes while a batch is being written is flushed together.
func TestOneFlushIsForAllThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, r := disktest.New(), new(reports)
		j := openOn(t, d)
		flushes, hold := d.Syncs(), make(chan struct{})
		d.BeforeSync(func() { <-hold })
		w := journal.NewWriter(j, r.options())
		for i := range 1000 {
			last, err := w.Append(t.Context(), fmt.Append(nil, i), []byte("with it"))
			require.NoError(t, err)
			require.EqualValues(t, 2*i+2, last)
			if i == 0 {
				synctest.Wait() // the first batch is being flushed
			}
		}
		close(hold)
		synctest.Wait()
		require.Equal(t, []uint64{2, 2000}, r.durable)
		require.Equal(t, flushes+2, d.Syncs())
		require.NoError(t, w.Close())
		_, err := w.Append(t.Context(), nil)
		require.ErrorIs(t, err, journal.ErrClosed)
		got, err := content(openOn(t, d))
		require.NoError(t, err)
		require.Len(t, got, 2000)
	})
}

// A full disk is no end: callers wait, and go on when there is room.
func TestAFullDiskHoldsCallersBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, r := disktest.New(), new(reports)
		o := r.options()
		o.Pending = 100
		w := journal.NewWriter(openOn(t, d), o)
		d.SetRoom(50)
		appended := 0
		go func() {
			for range 50 {
				if _, err := w.Append(t.Context(), make([]byte, 60)); err != nil {
					return
				}
				appended++
			}
		}()
		synctest.Wait()
		require.Empty(t, r.durable, "nothing of a batch that is half written")
		require.Len(t, r.full, 1)
		require.ErrorIs(t, r.full[0], journal.ErrFull)
		require.ErrorContains(t, r.full[0], "disk/log-0000000000000001")
		require.Less(t, appended, 5)

		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("no longer")
		cancel(cause)
		_, err := w.Append(ctx, nil)
		require.ErrorIs(t, err, cause)

		d.SetRoom(-1)
		time.Sleep(journal.DefaultRetry)
		synctest.Wait()
		require.Equal(t, 50, appended)
		require.Len(t, r.full, 2)
		require.NoError(t, r.full[1])
		require.NoError(t, w.Close())
		got, err := content(openOn(t, d))
		require.NoError(t, err)
		require.Len(t, got, 50)
	})
}

// waitForEver has callers wait for room when the disk fails, and returns how many of them do
// not hear of that.
func waitForEver(t *testing.T) (callers int) {
	synctest.Test(t, func(t *testing.T) {
		d := disktest.New()
		j := openOn(t, d)
		broken, hold := errors.New("input/output error"), make(chan struct{})
		d.BeforeSync(func() { <-hold })
		w := journal.NewWriter(j, journal.WriterOptions{Pending: 10})
		ctx, cancel := context.WithCancel(t.Context())
		var told atomic.Int32
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				for {
					if _, err := w.Append(ctx, make([]byte, 60)); err != nil {
						if errors.Is(err, broken) {
							told.Add(1)
						}
						return
					}
				}
			})
		}
		synctest.Wait()
		d.FailSync(broken)
		close(hold)
		synctest.Wait()
		callers = 5 - int(told.Load())
		cancel()
		all.Wait()
	})
	return callers
}

func TestCallersHearThatTheDiskFails(t *testing.T) { require.Zero(t, waitForEver(t)) }

// A flush that fails ends the writer: nobody knows what is on the disk.
func TestAFailedFlushEndsTheWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, r := disktest.New(), new(reports)
		w := journal.NewWriter(openOn(t, d), r.options())
		broken := errors.New("input/output error")
		d.FailSync(broken)
		_, err := w.Append(t.Context(), []byte("lost"))
		require.NoError(t, err)
		<-w.Done()
		require.Empty(t, r.durable)
		require.ErrorIs(t, w.Err(), broken)
		d.FailSync(nil)
		_, err = w.Append(t.Context(), nil)
		require.ErrorIs(t, err, broken)
		require.ErrorIs(t, w.Close(), broken)
	})
}

// A writer can be closed while the disk is full.
func TestCloseDoesNotWaitForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := disktest.New()
		w := journal.NewWriter(openOn(t, d), journal.WriterOptions{})
		d.SetRoom(0)
		_, err := w.Append(t.Context(), []byte("one"))
		require.NoError(t, err)
		synctest.Wait()
		require.ErrorIs(t, w.Close(), journal.ErrFull)
		d.SetRoom(-1)
		got, err := content(openOn(t, d))
		require.NoError(t, err)
		require.Empty(t, got)
	})
}

// closesInOrder closes a writer while it writes a batch and another record waits.
func closesInOrder(t testing.TB) {
	d, r := disktest.New(), new(reports)
	j := openOn(t, d)
	began, hold := make(chan struct{}), make(chan struct{})
	d.BeforeSync(func() { d.BeforeSync(nil); close(began); <-hold })
	w := journal.NewWriter(j, r.options())
	_, err := w.Append(context.Background(), []byte("one"))
	require.NoError(t, err)
	<-began
	_, err = w.Append(context.Background(), []byte("two"))
	require.NoError(t, err)
	closed := make(chan error)
	go func() { closed <- w.Close() }()
	for !errors.Is(err, journal.ErrClosed) {
		runtime.Gosched()
		_, err = w.Append(context.Background())
	}
	close(hold)
	require.NoError(t, <-closed)
	require.Equal(t, []uint64{1, 2}, r.durable)
	got, err := content(openOn(t, d))
	require.NoError(t, err)
	require.Equal(t, []string{"one", "two"}, got)
}

// What was handed over is written before a writer is closed.
func TestCloseWritesWhatWaits(t *testing.T) { closesInOrder(t) }

// marksOnce has an idle journal write that all is flushed. A journal that could not does not go
// on: the disk may have a part of the mark.
func marksOnce(t testing.TB) {
	d := disktest.New()
	j := openOn(t, d)
	require.NoError(t, appendOne(j, 1, 9))
	require.True(t, j.Mark())
	require.False(t, j.Mark(), "again")
	require.NoError(t, appendOne(j, 2, 9))
	d.FailAfter(0)
	require.False(t, j.Mark())
	d.FailAfter(-1)
	require.ErrorIs(t, appendOne(j, 3, 9), disktest.ErrPower)
}

func TestAnIdleJournalIsMarkedOnce(t *testing.T) { marksOnce(t) }

// lonely has a writer write one record after another, with a pause in between, and returns how
// often it wrote to its file.
func lonely(t *testing.T, pauses ...time.Duration) int {
	d := disktest.New()
	j := openOn(t, d)
	before := d.Writes()
	w := journal.NewWriter(j, journal.WriterOptions{})
	for _, pause := range pauses {
		_, err := w.Append(t.Context(), []byte("record"))
		require.NoError(t, err)
		time.Sleep(pause)
		synctest.Wait()
	}
	writes := d.Writes() - before
	require.NoError(t, w.Close())
	return writes
}

// A writer marks its journal once it is idle, and not between batches: callers would wait for
// that.
func TestAWriterMarksWhenItIsIdle(t *testing.T) {
	require.Equal(t, [2]int{3, 5}, idleMarks(t), "each record, and each long pause")
}

// idleMarks returns how often a writer writes without a long pause, and with two.
func idleMarks(t *testing.T) (writes [2]int) {
	const short, long = journal.IdleMark - 1, 10 * journal.IdleMark
	synctest.Test(t, func(t *testing.T) {
		writes = [2]int{lonely(t, short, short, short), lonely(t, long, short, long)}
	})
	return writes
}

// After a failed flush or write nobody knows what is on the disk: a journal accepts
// nothing more, even if the disk works again. A full disk is no such end.
func TestAFailedJournalStaysFailed(t *testing.T) { staysFailed(t) }

func staysFailed(t testing.TB) {
	d := disktest.New()
	j := openOn(t, d)
	batch := func() *journal.Batch {
		b := new(journal.Batch)
		b.Add([]byte("record"))
		return b
	}
	require.NoError(t, j.Append(batch()))
	d.SetRoom(0)
	require.ErrorIs(t, j.Append(batch()), journal.ErrFull)
	d.SetRoom(-1)
	require.NoError(t, j.Append(batch()))
	broken := errors.New("input/output error")
	d.FailSync(broken)
	require.ErrorIs(t, j.Append(batch()), broken)
	d.FailSync(nil)
	require.ErrorIs(t, j.Append(batch()), broken)
	j.Mark() // writes nothing
	require.Equal(t, uint64(2), j.Last())
	require.ErrorIs(t, j.Append(batch()), broken)
}
