package journal

import (
	"errors"
	"fmt"
	"sync"

	"github.com/failaware/failaware/internal/durable"
)

// DefaultSegment is the size in bytes of a segment, unless its only batch is larger.
const DefaultSegment = 64 << 20

// Options are options of a journal. Zero values stand for the defaults.
type Options struct {
	// Segment is the size in bytes at which a segment is full. Zero means
	// DefaultSegment.
	Segment int64
	// ID is the number of a new journal. Zero means a random one.
	ID uint64
	// Known, if not zero, is the number that the journal must have. Open refuses another
	// one with a [*StrangeError], and leaves it as it is.
	Known uint64
	// Former, if not empty, names a file that was written after a journal was made. A disk
	// without a journal has then lost it, and Open fails.
	Former string
}

// Journal is a list of records on a disk, and a snapshot that stands for the first of
// them. Records are numbered from 1. One goroutine at a time may append, and another
// may write snapshots.
type Journal struct {
	disk  Disk
	size  int64
	id    uint64
	want  uint64        // Options.Known
	lock  *durable.Lock // nil without one
	names *durable.Dir  // the open directory; nil without a lock
	lost  int64

	// The goroutine that appends owns these.
	last   *segment
	ending []*segment // that others follow, whose ends do not say so yet
	failed error      // after which the end of the journal is not known

	// useless are the files that could not be removed yet, although a snapshot stands for
	// them. The goroutine that writes snapshots owns it.
	useless []string

	mu       sync.Mutex
	old      []*segment // complete ones, whose files are closed
	snapshot uint64     // the last record that the snapshot stands for, 0 if there is none
	count    uint64     // of records
}

// Last returns the number of the last record on the disk, 0 if there is none.
func (j *Journal) Last() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.count
}

// ID returns the number of the journal, which is random unless [Options] say it.
func (j *Journal) ID() uint64 { return j.id }

// Cut returns how many bytes [Open] removed from the end: of a batch that was being
// written when the power failed or the process ended.
func (j *Journal) Cut() int64 { return j.lost }

// Append writes a batch, and returns once it is on the disk. A batch that is too large is
// refused with [ErrTooLarge]. If the error matches [ErrFull], the batch may be appended
// again. After any other error the journal must be closed, and the batch may be kept or
// lost.
func (j *Journal) Append(b *Batch) error {
	if j.failed != nil {
		return j.failed
	}
	if b.Size() > MaxBatch {
		return ErrTooLarge
	}
	if space := headBytes + roundUp(int64(b.Size())); j.last.end+space+headBytes > j.size && j.last.next > j.last.first {
		if err := j.rotate(space); err != nil {
			return j.fail(err)
		}
	}
	if err := j.finish(); err != nil {
		return j.fail(err)
	}
	if err := j.last.write(b, uint32(b.Count())); err != nil {
		return j.fail(about("write", j.disk.Path(j.last.name), err))
	}
	if err := j.last.flush(); err != nil {
		// The system may have dropped what it could not write, so a second
		// attempt proves nothing.
		return j.fail(about("flush", j.disk.Path(j.last.name), err))
	}
	j.mu.Lock()
	j.count = j.last.next - 1
	j.mu.Unlock()
	return nil
}

// fail remembers an error unless it only says that the disk is full.
func (j *Journal) fail(err error) error {
	err = fmt.Errorf("journal: %w", err)
	if !errors.Is(err, ErrFull) {
		j.failed = err
	}
	return err
}

// Mark writes, without a flush, that everything was flushed. An idle journal should do
// so once, so that damage of its last batch is noticed. It reports whether it did. Errors
// need no answer.
func (j *Journal) Mark() bool {
	s := j.last
	if j.failed != nil || s.end != s.flushed || s.end+2*headBytes > j.size {
		return false
	}
	if err := s.write(new(Batch), 0); err != nil {
		_ = j.fail(err)
		return false
	}
	return true
}

// rotate begins another segment, with room for a batch.
func (j *Journal) rotate(space int64) error {
	s := j.last
	if s.end != s.flushed {
		if err := s.flush(); err != nil { // the next segment continues the checksum of this one
			return about("flush", j.disk.Path(s.name), err)
		}
	}
	next, err := createSegment(j.disk, origin{j.id, s.next, s.sum}, max(j.size, segmentBytes+space+headBytes))
	if err != nil {
		return about("begin", j.disk.Path(nameOf(segmentPrefix, s.next)), err)
	}
	j.last, j.ending = next, append(j.ending, s)
	j.mu.Lock()
	j.old = append(j.old, s)
	j.mu.Unlock()
	return nil
}

// finish ends the segments that others follow. A crash before that is not a fault. The ends
// are flushed before anything behind them is reported, so that the loss of what follows is
// noticed. If the disk is full, another call goes on.
func (j *Journal) finish() error {
	for len(j.ending) > 0 {
		s := j.ending[0]
		err := s.finish()
		if !s.closed {
			return about("end", j.disk.Path(s.name), err)
		}
		j.ending = j.ending[1:]
		if err = errors.Join(err, s.file.Close()); err != nil {
			return about("end", j.disk.Path(s.name), err)
		}
	}
	return nil
}

// Close closes the journal. It must not be called before other calls have returned. Closing
// again does nothing.
func (j *Journal) Close() error {
	if j.failed == ErrClosed {
		return nil
	}
	j.Mark()
	var err error
	if j.failed == nil && j.last.end != j.last.flushed {
		err = j.last.flush()
	}
	j.failed = ErrClosed
	return errors.Join(err, j.closeFiles(), j.names.Close(), j.lock.Release())
}

// closeFiles closes the files of the segments.
func (j *Journal) closeFiles() (err error) {
	for _, s := range append(j.ending, j.last) {
		if s != nil {
			err = errors.Join(err, s.file.Close())
		}
	}
	return err
}
