package hwclock

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// StepWatch detects steps of CLOCK_REALTIME. It belongs to one goroutine, except that
// any may close it, and that Wait and Stepped may each have their own.
//
// It is a timer of that clock that never fires, which the kernel cancels whenever the
// clock is set, and when the machine wakes up from a suspend.
type StepWatch struct {
	file *os.File // so that closing waits for a reader
	raw  syscall.RawConn

	ask     func(fd uintptr) // created once, so that Stepped does not allocate
	buf     [8]byte
	stepped bool
}

// NewStepWatch begins to watch. It fails when the process may have no more file
// descriptors, and with [errors.ErrUnsupported] on other systems than Linux.
func NewStepWatch() (*StepWatch, error) {
	w, err := newStepWatch()
	if err != nil {
		return nil, fmt.Errorf("hwclock: cannot watch for clock steps: %w", err)
	}
	return w, nil
}

func newStepWatch() (*StepWatch, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_REALTIME, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	w := &StepWatch{file: os.NewFile(uintptr(fd), "clock steps")}
	w.ask = w.read
	w.raw, err = w.file.SyscallConn()
	if err == nil {
		err = arm(fd)
	}
	if err != nil {
		_ = w.file.Close()
		return nil, err
	}
	return w, nil
}

func arm(fd int) error {
	var far unix.ItimerSpec
	far.Value.Sec = 1<<31 - 1 // fits every size of time_t; after it, every answer is the cautious one
	err := unix.TimerfdSettime(fd, unix.TFD_TIMER_ABSTIME|unix.TFD_TIMER_CANCEL_ON_SET, &far, nil)
	if errors.Is(err, unix.ECANCELED) {
		return nil // armed, and a step came just before
	}
	return err
}

// Stepped reports whether the clock may have been stepped since the previous
// call, or since the watch began. It costs one system call, never blocks, and
// is true when the watch is closed.
func (w *StepWatch) Stepped() bool {
	w.stepped = true
	_ = w.raw.Control(w.ask) // fails when closed, and leaves the cautious answer
	return w.stepped
}

func (w *StepWatch) read(fd uintptr) {
	// It never blocks, and so does not trouble the runtime's scheduler.
	_, _, errno := unix.RawSyscall(unix.SYS_READ, fd, uintptr(unsafe.Pointer(&w.buf[0])), uintptr(len(w.buf)))
	if w.stepped = errno != unix.EAGAIN; w.stepped {
		// ECANCELED reports a step. If arming fails, the old timer continues to
		// report steps.
		_ = arm(int(fd))
	}
}

// Wait blocks until the clock may have been stepped, or until the watch is closed. It
// then returns false.
func (w *StepWatch) Wait() bool {
	err := w.raw.Read(func(fd uintptr) (done bool) {
		w.read(fd)
		return w.stepped
	})
	return err == nil
}

// Close ends the watch.
func (w *StepWatch) Close() error { return w.file.Close() }
