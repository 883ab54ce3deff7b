package udp

import (
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/failaware/failaware/timed"
)

// bell is what a reader waits at: an epoll instance of its own, in the care of
// the runtime's poller, that hears the socket and a timer of the kernel. A node
// is idle most of the time, so what a wait costs is what the node costs, and
// this is several times cheaper than a deadline on the socket itself:
//
//   - The runtime watches a socket for room to send as well, so that every packet
//     that leaves would wake a thread. The bell is silent about it.
//   - Expired timers of the runtime wake a second thread, and the runtime's
//     watchdog; a thread of the poller waits in whole milliseconds; and a timer
//     that was moved into the future still ends the wait that it had begun.
type bell struct {
	file  *os.File // the epoll instance
	raw   syscall.RawConn
	timer int // file descriptor

	in   *receiver
	fd   uintptr // the socket
	spec unix.ItimerSpec

	sooner unix.ItimerSpec // of who hastens

	// The wait under way. The function is made once, so that a call does not
	// allocate.
	listen     func(uintptr) bool
	now, until timed.Instant
	calls      *calls
	waited     bool
	err        error
}

func newBell(fd int, in *receiver) (_ *bell, err error) {
	b := &bell{in: in, fd: uintptr(fd), timer: -1}
	b.listen = func(uintptr) bool { return b.look() }
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	if err := unix.SetNonblock(epoll, true); err != nil { // or os.File leaves it alone
		_ = unix.Close(epoll)
		return nil, os.NewSyscallError("fcntl", err)
	}
	b.file = os.NewFile(uintptr(epoll), "bell")
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
	// Fails if the poller does not take it: better now than at a wait.
	if err = b.file.SetReadDeadline(time.Time{}); err != nil {
		return nil, err
	}
	b.raw, err = b.file.SyscallConn()
	return b, err
}

// wait lets the receiver read what is there or comes, until about the deadline or
// an earlier one that is set meanwhile.
func (b *bell) wait(now, deadline timed.Instant, calls *calls) error {
	b.now, b.until, b.calls, b.waited, b.err = now, deadline, calls, false, nil
	err := b.raw.Read(b.listen)
	if errors.Is(err, os.ErrDeadlineExceeded) { // it was rung
		err = b.file.SetReadDeadline(time.Time{})
	}
	if err == nil {
		err = b.err
	}
	return err
}

// look reads; it returns false when the bell is to be waited for. The runtime
// may report what was there before the wait began: hence look once more.
func (b *bell) look() bool {
	if b.in.receive(b.fd) || b.waited {
		return true
	}
	b.waited = true
	b.err = b.arm()
	return b.err != nil
}

// arm sets the timer. It does so before every wait: the timer counts another
// clock than H, so it can have expired a little before the deadline.
//
// Whoever sets an earlier deadline stores it, and then sets the timer as well. It
// is not lost: what was stored before the timer was set here is seen here.
func (b *bell) arm() error {
	for {
		if err := b.set(&b.spec, b.now, b.until); err != nil {
			return err
		}
		earlier := b.calls.deadline()
		if earlier >= b.until {
			return nil
		}
		b.until = earlier
	}
}

// set lets the timer expire at a deadline.
func (b *bell) set(spec *unix.ItimerSpec, now, deadline timed.Instant) error {
	*spec = unix.ItimerSpec{} // disarmed
	if deadline != timed.Never {
		spec.Value = unix.NsecToTimespec(max(int64(deadline.Sub(now)), 1))
	}
	return os.NewSyscallError("timerfd_settime", unix.TimerfdSettime(b.timer, 0, spec, nil))
}

// hasten ends the wait under way at a deadline, if it lasts until then. A failure
// means that the bell is closed.
func (b *bell) hasten(now, deadline timed.Instant) { _ = b.set(&b.sooner, now, deadline) }

// ring ends the wait under way, or else the next one.
func (b *bell) ring() {
	// A failure means that the bell is closed, which ends the wait too.
	_ = b.file.SetReadDeadline(longAgo)
}

// close ends the wait under way, and returns when nobody waits any more.
func (b *bell) close() {
	_ = b.file.Close()
	if b.timer >= 0 {
		_ = unix.Close(b.timer)
	}
}
