package engine

import (
	"context"
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
	"github.com/failaware/failaware/internal/keep"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/membership"
)

// Store keeps the state of an application in a journal: it performs the steps of a keeper.
// The goroutine that calls the application owns it, except for what mu guards. All methods
// of a nil *Store do nothing.
type Store struct {
	keeper *keep.Keeper
	writer *journal.Writer
	retry  time.Duration // between two attempts to write to a full disk
	saver  *saver
	part   *replica.Content // what an earlier process has received, until Earlier

	mu      sync.Mutex
	marks   keep.Marks
	durable uint64        // the last record that is on the disk
	changed chan struct{} // closed when durable grows
	events  []replica.Event
	full    error         // why the disk has no room
	news    chan struct{} // what the disk has, or events, has changed
}

// OpenStore opens the store in a directory, and gives the application the state that is
// there. The application must be in its initial state. The error matches
// [failaware.ErrDamaged], [failaware.ErrInUse] or [ErrOwner], or is that of the application
// or the system.
func OpenStore(dir string, o Owner, app Application) (*Store, error) {
	dir = durable.Abs(dir) // the process may change its working directory
	if err := MakeStore(dir); err != nil {
		return nil, err
	}
	// All of this comes before the journal mends anything.
	options, err := optionsOf(dir, o)
	if errors.Is(err, ErrOwner) && locked(dir) { // what to do about an owner is for later
		return nil, inUse(dir)
	}
	if err != nil {
		return nil, classify(err)
	}
	if err := checkRefused(dir); err != nil {
		return nil, classify(err)
	}
	j, err := journal.Open(dir, options)
	if errors.Is(err, durable.ErrLocked) {
		return nil, inUse(dir)
	}
	if strange, is := errors.AsType[*journal.StrangeError](err); is {
		err = o.strange(dir, strange)
	}
	if err != nil {
		return nil, classify(err)
	}
	if err := own(dir, o, j.ID()); err != nil {
		return nil, classify(errors.Join(err, j.Close()))
	}
	s, err := newStore(j, app, keep.Options{})
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
	return s.keeper.Place().View
}

// classify returns an error in terms of the library.
func classify(err error) error {
	_, damaged := errors.AsType[*journal.DamagedError](err)
	_, missing := errors.AsType[*journal.MissingError](err)
	_, record := errors.AsType[*durable.DamagedError](err)
	if damaged || missing || record {
		return fmt.Errorf("replicate: Storage: %w: %w", failaware.ErrDamaged, err)
	}
	return fmt.Errorf("replicate: Storage: %w", err)
}

// saver is an application that writes its state down for the disk. To do so is a call of the
// application by an engine, which the rest of a snapshot is not.
type saver struct {
	keep.Application
	of *Engine // nil: none has the store yet
}

// Save implements [keep.Application].
func (s *saver) Save(w io.Writer) error {
	if s.of != nil {
		s.of.enter()
		defer s.of.leave()
	}
	return s.Application.Save(w)
}

// newStore gives the application the state of a journal.
func newStore(j *journal.Journal, app Application, o keep.Options) (*Store, error) {
	saver := &saver{Application: app}
	k, first, err := keep.Open(j, saver, o)
	if err != nil {
		return nil, err
	}
	s := &Store{keeper: k, saver: saver, durable: j.Last(), retry: journal.DefaultRetry, changed: make(chan struct{}), news: make(chan struct{}, 1)}
	s.events = []replica.Event{{Kind: replica.EventRecovered, Bytes: uint64(j.Cut()), Total: k.Replayed()}}
	signal(s.news)
	s.writer = journal.NewWriter(j, journal.WriterOptions{OnDurable: s.onDurable, OnFull: s.onFull})
	// The first record waits for no other.
	if err := s.perform(context.Background(), first); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Earlier returns the state that the application has, for the first incarnation.
func (s *Store) Earlier() replica.Earlier {
	if s == nil {
		return replica.Earlier{}
	}
	e := s.keeper.Place().Named()
	e.Spare, s.part = s.part, nil
	return e
}

// Resume has the first incarnation use the part of a snapshot that an earlier process has left,
// or nil.
func (s *Store) Resume(part *replica.Content) {
	if s != nil {
		s.part = part
	}
}

// Ordered returns how far the messages of each sender are ordered that the state contains.
func (s *Store) Ordered() []broadcast.Mark {
	if s == nil {
		return nil
	}
	return slices.Clone(s.keeper.Place().Ordered)
}

// apply logs an operation that the application applies.
func (s *Store) apply(ctx context.Context, d *broadcast.Delivery, at replica.Point) error {
	if s == nil {
		return nil
	}
	return s.perform(ctx, s.keeper.Apply(d, at))
}

// dislocate notes that the disk has another state than the application until the next
// call of locate.
func (s *Store) dislocate() {
	if s != nil {
		s.keeper.Dislocate()
	}
}

// locate logs which state the application has.
func (s *Store) locate(ctx context.Context, p *replica.Place) error {
	if s == nil {
		return nil
	}
	return s.perform(ctx, s.keeper.Locate(p))
}

// compact makes a snapshot once enough operations have been logged.
func (s *Store) compact(ctx context.Context) error {
	if s == nil {
		return nil
	}
	return s.perform(ctx, s.keeper.Compact())
}

// perform performs steps of the keeper.
func (s *Store) perform(ctx context.Context, steps []keep.Step) (err error) {
	for i := 0; i < len(steps) && err == nil; i++ {
		if steps[i].Record == nil {
			err = s.snapshot(ctx, steps[i])
		} else {
			err = s.append(ctx, steps[i])
		}
	}
	if err != nil {
		return fmt.Errorf("replicate: Storage: %w", err)
	}
	return nil
}

// append hands a record to the writer.
func (s *Store) append(ctx context.Context, step keep.Step) error {
	s.mu.Lock()
	s.marks.Add(&step)
	s.mu.Unlock()
	_, err := s.writer.Append(ctx, step.Record)
	return err
}

// snapshot makes a snapshot. While the disk is full, or the application cannot make one that
// is needed, it waits, and tries again.
func (s *Store) snapshot(ctx context.Context, step keep.Step) error {
	if err := s.wait(ctx, step.Number); err != nil {
		return err
	}
	pause, full := s.retry, false
	for {
		err := s.keeper.Snapshot(step)
		noRoom, unmade := errors.Is(err, journal.ErrFull), errors.Is(err, keep.ErrUnmade)
		if noRoom && !full {
			s.onFull(err)
		} else if full && (unmade || err == nil) {
			s.onFull(nil)
		}
		full = noRoom
		if !noRoom && !unmade {
			return err
		}
		if unmade {
			s.note(replica.Event{Kind: replica.EventRefused, Err: err})
			if s.keeper.Postpone() {
				return nil
			}
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
		if unmade {
			pause = min(2*pause, mostRetries*s.retry)
		}
	}
}

// mostRetries is how many times retry the longest pause is.
const mostRetries = 60

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
			return errors.Join(s.writer.Err(), journal.ErrClosed)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// onDurable is called by the writer.
func (s *Store) onDurable(last uint64) {
	s.mu.Lock()
	s.durable = last
	s.marks.Reach(last)
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()
	signal(s.news)
}

// onFull is called by the writer.
func (s *Store) onFull(err error) {
	s.mu.Lock()
	s.full = err
	s.mu.Unlock()
	s.note(replica.Event{Kind: replica.EventDisk, Err: err})
}

// note tells of an event.
func (s *Store) note(e replica.Event) {
	s.mu.Lock()
	s.events = append(s.events, e)
	s.mu.Unlock()
	signal(s.news)
}

// noRoom returns why the disk has no room, or nil.
func (s *Store) noRoom() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.full
}

// News returns a channel that has room for one value and gets one when the disk has
// more.
func (s *Store) News() <-chan struct{} {
	if s == nil {
		return nil
	}
	return s.news
}

// take returns what the disk has, with the rank of its state, and what has happened to it since.
func (s *Store) take() (at replica.Point, rank uint64, events []replica.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	events, s.events = s.events, nil
	at, rank = s.marks.Stored()
	return at, rank, events
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
