package udp

import (
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/failaware/failaware/timed"
)

// waiter is the waiting place of a reader: its own epoll instance, which the runtime's
// poller watches, with the socket and a timer of the kernel in it. A node is idle most
// of the time, so the cost of a wait is the cost of the node. This is several times
// cheaper than a deadline on the socket itself:
//
//   - The runtime also watches a socket for room to send, so every packet that leaves
//     would wake a thread. The epoll instance watches only for packets.
//   - Expired timers of the runtime wake a second thread, and the runtime's watchdog; a
//     thread of the poller waits in whole milliseconds; and a timer that was moved into
//     the future still ends the wait that it had begun.
type waiter struct {
	file  *os.File // the epoll instance
	raw   syscall.RawConn
	timer int // file descriptor

	in   *receiver
	fd   uintptr // the socket
	spec unix.ItimerSpec

	sooner unix.ItimerSpec // used by hasten only

	// State of the wait under way. The function is created once, so that a call
	// does not allocate.
	ready      func(uintptr) bool
	now, until timed.Instant
	signals    *signals
	waited     bool
	err        error
}

func newWaiter(fd int, in *receiver) (_ *waiter, err error) {
	b := &waiter{in: in, fd: uintptr(fd), timer: -1}
	b.ready = func(uintptr) bool { return b.look() }
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	if err := unix.SetNonblock(epoll, true); err != nil { // otherwise os.File does not poll it
		_ = unix.Close(epoll)
		return nil, os.NewSyscallError("fcntl", err)
	}
	b.file = os.NewFile(uintptr(epoll), "udp waiter")
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	if b.timer, err = unix.TimerfdCreate(unix.CLOCK_BOOTTIME, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC); err != nil {
		return nil, os.NewSyscallError("timerfd_create", err)
	}
	for _, x := range []int{fd, b.timer} {
		event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(x)}
		if err = unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, x, &event); err != nil {
			return nil, os.NewSyscallError("epoll_ctl", err)
		}
	}
	// Fail now if the poller does not accept the file, not at the first wait.
	if err = b.file.SetReadDeadline(time.Time{}); err != nil {
		return nil, err
	}
	b.raw, err = b.file.SyscallConn()
	return b, err
}

// wait lets the receiver read packets that are there or come, until about the deadline
// or an earlier one that is set meanwhile.
func (b *waiter) wait(now, deadline timed.Instant, signals *signals) error {
	b.now, b.until, b.signals, b.waited, b.err = now, deadline, signals, false, nil
	err := b.raw.Read(b.ready)
	if errors.Is(err, os.ErrDeadlineExceeded) { // it was interrupted
		err = b.file.SetReadDeadline(time.Time{})
	}
	if err == nil {
		err = b.err
	}
	return err
}

// look reads. It returns false when the reader must wait. The runtime may report an
// event from before the wait began, so look is called again.
func (b *waiter) look() bool {
	if b.in.receive(b.fd) || b.waited {
		return true
	}
	b.waited = true
	b.err = b.arm()
	return b.err != nil
}

// arm sets the timer before every wait. The timer uses another clock than H, so it can
// have expired a little before the deadline.
//
// A concurrent hasten stores its earlier deadline, and then sets the timer as well. The
// deadline is not lost: arm checks after setting the timer.
func (b *waiter) arm() error {
	for {
		if err := b.set(&b.spec, b.now, b.until); err != nil {
			return err
		}
		earlier := b.signals.deadline()
		if earlier >= b.until {
			return nil
		}
		b.until = earlier
	}
}

// set lets the timer expire at a deadline.
func (b *waiter) set(spec *unix.ItimerSpec, now, deadline timed.Instant) error {
	*spec = unix.ItimerSpec{} // disarmed
	if deadline != timed.Never {
		spec.Value = unix.NsecToTimespec(max(int64(deadline.Sub(now)), 1))
	}
	return os.NewSyscallError("timerfd_settime", unix.TimerfdSettime(b.timer, 0, spec, nil))
}

// hasten ends the wait under way at a deadline, if it lasts until then. A failure means
// that the waiter is closed.
func (b *waiter) hasten(now, deadline timed.Instant) { _ = b.set(&b.sooner, now, deadline) }

// interrupt ends the wait under way, or else the next one.
func (b *waiter) interrupt() {
	// A failure means that the waiter is closed, which ends the wait too.
	_ = b.file.SetReadDeadline(longAgo)
}

// close ends the wait under way, and returns when no reader waits any more.
func (b *waiter) close() {
	_ = b.file.Close()
	if b.timer >= 0 {
		_ = unix.Close(b.timer)
	}
}
