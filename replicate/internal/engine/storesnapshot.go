package engine

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/failaware/failaware/internal/journal"
	"github.com/failaware/failaware/internal/replica"
)

// compact makes a snapshot once enough operations have been logged.
func (s *Store) compact(ctx context.Context) error {
	if s == nil || !s.named || s.since < s.next {
		return nil
	}
	return s.snapshot(ctx)
}

// snapshot writes the state and its place down, in place of all records until now. While
// the disk is full it waits, and tries again: what was there before counts until then.
func (s *Store) snapshot(ctx context.Context) error {
	if err := s.wait(ctx, s.number); err != nil {
		return err
	}
	for full := false; ; full = true {
		err := s.writeSnapshot()
		if !errors.Is(err, journal.ErrFull) {
			if full && err == nil {
				s.onFull(nil)
			}
			return err
		}
		if !full {
			s.onFull(err)
		}
		select {
		case <-time.After(s.retry):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// writeSnapshot is one attempt at a snapshot.
func (s *Store) writeSnapshot() error {
	w, err := s.journal.NewSnapshot(s.number)
	if err != nil {
		return fmt.Errorf("replicate: Storage: %w", err)
	}
	place := replica.AppendPlace(nil, &s.place)
	counter := &counted{w: w}
	_, err = counter.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(place))), place...))
	if err == nil {
		err = s.app.Save(counter)
	}
	if err == nil {
		err = w.Commit()
	} else {
		w.Abandon()
	}
	if err != nil {
		// The application need not pass on why it could not write.
		return fmt.Errorf("replicate: Storage: %w", errors.Join(err, counter.err))
	}
	s.named, s.since, s.next = true, 0, max(s.least, 2*counter.n)
	return nil
}

// counted counts what is written, until the first error.
type counted struct {
	w   io.Writer
	n   int
	err error
}

// Write implements [io.Writer].
func (c *counted) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += n
	if c.err == nil {
		c.err = err
	}
	return n, err
}
