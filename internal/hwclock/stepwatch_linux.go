package hwclock

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// StepWatch learns of steps of CLOCK_REALTIME. It belongs to one goroutine.
//
// It is a timer of that clock that never fires, which the kernel cancels
// whenever the clock is set.
type StepWatch struct {
	fd  int
	buf [8]byte
}

// NewStepWatch begins to watch. It fails when the process may have no more file
// descriptors, and with [errors.ErrUnsupported] on other systems than Linux.
func NewStepWatch() (*StepWatch, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_REALTIME, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("hwclock: cannot watch for clock steps: %w", err)
	}
	w := &StepWatch{fd: fd}
	if err := w.arm(); err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("hwclock: cannot watch for clock steps: %w", err)
	}
	return w, nil
}

func (w *StepWatch) arm() error {
	far := unix.ItimerSpec{}
	far.Value.Sec = 1<<31 - 1 // fits every size of time_t; when it fires it is only armed again
	err := unix.TimerfdSettime(w.fd, unix.TFD_TIMER_ABSTIME|unix.TFD_TIMER_CANCEL_ON_SET, &far, nil)
	if errors.Is(err, unix.ECANCELED) {
		return nil // armed, and told of a step just before
	}
	return err
}

// Stepped reports whether the clock may have been stepped since the previous
// call, or since the watch began. It costs one system call and never blocks.
func (w *StepWatch) Stepped() bool {
	_, err := unix.Read(w.fd, w.buf[:])
	if err == unix.EAGAIN {
		return false
	}
	// ECANCELED tells of a step. Anything else is unexpected, and the answer
	// then is the cautious one.
	_ = w.arm()
	return true
}

// Close ends the watch.
func (w *StepWatch) Close() error { return unix.Close(w.fd) }
