package loop

import (
	"errors"
	"time"

	"github.com/failaware/failaware/internal/loop/statedir"
)

// persistRetry is how long the loop waits before it tries again to write to a full disk.
const persistRetry = 100 * time.Millisecond

// persist writes what must be on the disk before anybody can hear of it, and reports whether it
// is. Otherwise the node says nothing more.
func (d *driver) persist(write func() error) bool {
	err := d.awaitRoom(write)
	switch {
	case err == nil:
		return true
	case errors.Is(err, statedir.ErrFull):
		d.life.Fail(true) // it was closed, which is no failure
	default:
		d.fail(err, true)
	}
	return false
}

// awaitRoom writes to the state directory. While the disk is full, or no more files can be opened,
// the turn waits, as it does for a disk that is slow: for the others the node is silent, and what
// it has said ends by the clock. Only if the loop is closed meanwhile, the error matches
// [statedir.ErrFull].
func (d *driver) awaitRoom(write func() error) error {
	err := write()
	if !errors.Is(err, statedir.ErrFull) {
		return err
	}
	d.l.cfg.Sink.Warn("the node stands until its state directory can be written", "error", err)
	for errors.Is(err, statedir.ErrFull) && !d.l.closing.Load() {
		d.l.cfg.Sleep(persistRetry)
		err = write()
	}
	if err == nil {
		d.l.cfg.Sink.Warn("the state directory was written, and the node goes on")
	}
	return err
}
