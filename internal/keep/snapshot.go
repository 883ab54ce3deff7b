package keep

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/failaware/failaware/internal/replica"
)

// Snapshot writes the state and its place down, in place of all records until now. If the
// error matches [journal.ErrFull], what was there before counts, and the owner tries again.
func (k *Keeper) Snapshot(s Step) error {
	w, err := k.journal.NewSnapshot(s.Number)
	if err != nil {
		return err
	}
	place := replica.AppendPlace(nil, &k.place)
	counter := &counted{w: w}
	_, err = counter.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(place))), place...))
	if err == nil {
		err = k.app.Save(counter)
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
