package keep

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/failaware/failaware/internal/replica"
)

// ErrUnmade: the application could not write its state.
var ErrUnmade = errors.New("the application could not make a snapshot")

// Snapshot writes the state and its place down, in place of all records until now. If the
// error matches [journal.ErrFull] or [ErrUnmade], what was there before counts, and the owner
// tries again.
func (k *Keeper) Snapshot(s Step) error {
	w, err := k.journal.NewSnapshot(s.Number)
	if err != nil {
		return err
	}
	place := replica.AppendPlace(nil, &k.place)
	counter := &counted{w: w}
	_, err = counter.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(place))), place...))
	if err == nil {
		if err = k.app.Save(counter); err != nil && counter.err == nil {
			err = fmt.Errorf("%w: %w", ErrUnmade, err)
		}
	}
	if err == nil {
		err = w.Commit()
	} else {
		w.Abandon()
	}
	if err != nil {
		if !errors.Is(err, counter.err) {
			err = errors.Join(err, counter.err) // the application need not pass on why it could not write
		}
		return err
	}
	k.named = true
	k.written(counter.n)
	return nil
}

// Postpone goes on without a snapshot that the application could not make, and reports whether
// that is possible: a state that does not continue what is on the disk needs it. Otherwise the
// log has everything, and Compact asks again when a quarter of Least is logged.
func (k *Keeper) Postpone() bool {
	k.next = k.since + max(1, k.least/4)
	return k.named
}

// written notes how large the snapshot is that operations follow. The next one replaces it
// when twice as many bytes of them are logged.
func (k *Keeper) written(size int) { k.since, k.next = 0, max(k.least, 2*size) }

// counted passes on what is written to it, and counts it. It keeps the first error.
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
