package engine

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/durable"
	"github.com/failaware/failaware/internal/journal"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/membership"
)

// leastLog is how many bytes of operations are logged before a snapshot is made, unless
// the snapshot before was larger than half of that.
const leastLog = 16 << 20

// Store keeps the state of an application in a journal: a snapshot, and all operations
// since. The goroutine that calls the application owns it, except for what mu guards. All
// methods of a nil *Store do nothing.
type Store struct {
	journal *journal.Journal
	writer  *journal.Writer
	app     Application
	place   replica.Place // of the state
	named   bool          // the state on the disk is that of the application
	number  uint64        // of the last record
	since   int           // bytes of operations since the snapshot
	least   int           // of them before a snapshot is made
	next    int           // of them before the next one
	buffer  []byte
	retry   time.Duration // between two attempts to write to a full disk
	// replayed is how many operations were applied at the start.
	replayed uint64

	mu      sync.Mutex
	marks   []mark        // of records that are not on the disk yet
	stored  replica.Point // the last that is
	durable uint64        // the last record that is on the disk
	changed chan struct{} // closed when durable grows
	events  []replica.Event
	news    chan struct{} // stored or events has changed
}

// mark says which place of the state a record stands for.
type mark struct {
	number uint64
	at     replica.Point
}

// OpenStore opens the store in a directory, and gives the application the state that is
// there. The application must be in its initial state. The error matches
// [failaware.ErrDamaged] or [failaware.ErrInUse], or is that of the application or the
// system.
func OpenStore(dir string, app Application) (*Store, error) {
	j, err := journal.Open(dir, journal.Options{})
	if err != nil {
		return nil, classify(err)
	}
	s, err := newStore(j, app)
	if err != nil {
		return nil, classify(errors.Join(err, j.Close()))
	}
	return s, nil
}

// View returns the view of the state on the disk, which is none if there is no state.
func (s *Store) View() membership.ViewID {
	if s == nil {
		return membership.ViewID{}
	}
	return s.place.View
}

// classify returns an error in terms of the library.
func classify(err error) error {
	_, damaged := errors.AsType[*journal.DamagedError](err)
	_, missing := errors.AsType[*journal.MissingError](err)
	switch {
	case damaged || missing:
		return fmt.Errorf("replicate: Storage: %w: %w", failaware.ErrDamaged, err)
	case errors.Is(err, durable.ErrLocked):
		return fmt.Errorf("replicate: Storage: %w: %w", failaware.ErrInUse, err)
	}
	return fmt.Errorf("replicate: Storage: %w", err)
}

// newStore gives the application the state of a journal.
func newStore(j *journal.Journal, app Application) (*Store, error) {
	s := &Store{journal: j, app: app, named: true, number: j.Last(), durable: j.Last(), least: leastLog, next: leastLog, retry: journal.DefaultRetry,
		changed: make(chan struct{}), news: make(chan struct{}, 1)}
	snapshot, err := s.restore()
	if err != nil {
		return nil, err
	}
	if err := s.replay(); err != nil {
		return nil, err
	}
	if err := s.confirm(snapshot); err != nil {
		return nil, err
	}
	s.events = []replica.Event{{Kind: replica.EventRecovered, Bytes: uint64(j.Cut()), Total: s.replayed}}
	signal(s.news)
	s.writer = journal.NewWriter(j, journal.WriterOptions{OnDurable: s.onDurable, OnFull: s.onFull})
	return s, nil
}

// confirm logs the place behind a snapshot that nothing follows, as replace does, because a
// process may have ended in between.
func (s *Store) confirm(snapshot uint64) error {
	if snapshot == 0 || s.number > snapshot {
		return nil
	}
	var b journal.Batch
	b.Add(appendPlace(nil, &s.place))
	err := s.journal.Append(&b)
	s.number, s.durable = s.journal.Last(), s.journal.Last()
	if errors.Is(err, journal.ErrFull) {
		return nil // no file was lost so far
	}
	return err
}

// restore gives the application the state of the snapshot, if there is one, and returns the
// last record that it stands for.
func (s *Store) restore() (number uint64, err error) {
	number, r, err := s.journal.Snapshot()
	if r == nil || err != nil {
		return 0, err
	}
	var size [4]byte
	if _, err = io.ReadFull(r, size[:]); err == nil {
		b := make([]byte, min(binary.BigEndian.Uint32(size[:]), 1<<20))
		if _, err = io.ReadFull(r, b); err == nil {
			s.place, _, err = replica.ParsePlace(b)
		}
	}
	if err == nil {
		err = s.app.Load(r)
	}
	if err == nil {
		_, err = io.Copy(io.Discard, r) // checks what the application did not read
	}
	return number, errors.Join(err, r.Close())
}

// replay has the application apply the operations since the snapshot. A replacement without
// its snapshot did not come about if it is the last record: the state before counts, and
// the next place replaces it. Records behind it continue a state whose snapshot is lost.
func (s *Store) replay() error {
	return s.journal.Replay(func(number uint64, record []byte) error {
		switch {
		case len(record) == 0:
			return errRecord
		case record[0] == recordReplaced:
			s.named = false
			return nil
		case !s.named:
			return s.journal.MissingSnapshot(number - 1)
		case record[0] == recordPlace:
			p, rest, err := replica.ParsePlace(record[1:])
			if s.place = p; err == nil && len(rest) > 0 {
				err = errRecord
			}
			return err
		case record[0] == recordApply:
			d, err := parseApply(record)
			if err == nil {
				s.app.Apply(d)
				s.replayed++
				s.place.Advance(&d)
				s.since += len(record)
			}
			return err
		}
		return errRecord
	})
}

// Earlier returns the state that the application has, for the first incarnation.
func (s *Store) Earlier() replica.Earlier {
	if s == nil {
		return replica.Earlier{}
	}
	return s.place.Named()
}

// Ordered returns how far the messages of each sender are ordered that the state contains.
func (s *Store) Ordered() []broadcast.Mark {
	if s == nil {
		return nil
	}
	return slices.Clone(s.place.Ordered)
}

// apply logs an operation that the application applies.
func (s *Store) apply(ctx context.Context, d *broadcast.Delivery, at replica.Point) error {
	if s == nil || !s.named {
		return nil
	}
	s.buffer = appendApply(s.buffer[:0], d)
	s.since += len(s.buffer)
	s.place.Advance(d)
	return s.append(ctx, at)
}

// append logs a record. The state is then at a place.
func (s *Store) append(ctx context.Context, at replica.Point) error {
	s.mu.Lock()
	s.marks = append(s.marks, mark{s.number + 1, at})
	s.mu.Unlock()
	number, err := s.writer.Append(ctx, s.buffer)
	if err != nil {
		return fmt.Errorf("replicate: Storage: %w", err)
	}
	s.number = number
	return nil
}

// dislocate notes that the disk has another state than the application until the next
// call of locate.
func (s *Store) dislocate() {
	if s != nil {
		s.named = false
	}
}

// locate logs which state the application has.
func (s *Store) locate(ctx context.Context, p *replica.Place) error {
	if s == nil {
		return nil
	}
	s.place = *p
	if !s.named {
		return s.replace(ctx)
	}
	return s.appendPlace(ctx)
}

// replace writes down a state that does not continue what is on the disk. Until the
// snapshot is complete, the earlier state is the one that counts. The record of the place
// behind it says that the snapshot was complete, should its file be lost.
func (s *Store) replace(ctx context.Context) error {
	s.buffer = append(s.buffer[:0], recordReplaced)
	if err := s.append(ctx, replica.Point{}); err != nil {
		return err
	}
	if err := s.snapshot(ctx); err != nil {
		return err
	}
	return s.appendPlace(ctx)
}

// appendPlace logs the place of the state.
func (s *Store) appendPlace(ctx context.Context) error {
	s.buffer = appendPlace(s.buffer[:0], &s.place)
	return s.append(ctx, replica.Point{View: s.place.View, Position: s.place.Position})
}

// wait waits until a record is on the disk.
func (s *Store) wait(ctx context.Context, number uint64) error {
	for {
		s.mu.Lock()
		done, changed := s.durable >= number, s.changed
		s.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-s.writer.Done():
			return fmt.Errorf("replicate: Storage: %w", errors.Join(s.writer.Err(), journal.ErrClosed))
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// onDurable is called by the writer.
func (s *Store) onDurable(last uint64) {
	s.mu.Lock()
	s.durable = last
	k := 0
	for k < len(s.marks) && s.marks[k].number <= last {
		if at := s.marks[k].at; !at.View.None() {
			s.stored = at
		}
		k++
	}
	s.marks = s.marks[:copy(s.marks, s.marks[k:])]
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()
	signal(s.news)
}

// onFull is called by the writer.
func (s *Store) onFull(err error) {
	s.mu.Lock()
	s.events = append(s.events, replica.Event{Kind: replica.EventDisk, Err: err})
	s.mu.Unlock()
	signal(s.news)
}

// News returns a channel that has room for one value and gets one when the disk has
// more.
func (s *Store) News() <-chan struct{} {
	if s == nil {
		return nil
	}
	return s.news
}

// take returns what the disk has, and what has happened to it since.
func (s *Store) take() (at replica.Point, events []replica.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	events, s.events = s.events, nil
	return s.stored, events
}

// watch returns why the disk can take nothing any more.
func (s *Store) watch(ctx context.Context) error {
	if s != nil {
		select {
		case <-s.writer.Done():
			return fmt.Errorf("replicate: Storage: %w", s.writer.Err())
		case <-ctx.Done():
		}
	}
	<-ctx.Done()
	return ctx.Err()
}

// Close writes what waits and closes the journal.
func (s *Store) Close() error {
	if s == nil {
		return nil
	}
	return s.writer.Close()
}
