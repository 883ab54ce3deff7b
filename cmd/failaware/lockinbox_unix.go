//go:build unix

package main

import (
	"io"
	"os"
	"syscall"
	"time"
)

// openInbox starts to read r. If r is a pipe, take returns all of its content even if the
// reading goroutine runs late.
func openInbox(r io.Reader) *inbox {
	in := newInbox()
	if f, ok := r.(*os.File); ok && in.openFile(f) {
		return in
	}
	go in.readFrom(r)
	return in
}

// openFile starts to read f, and reports whether f can be read without blocking.
func (in *inbox) openFile(f *os.File) bool {
	own, err := nonblocking(f)
	if err != nil {
		return false
	}
	raw, err := own.SyscallConn()
	if err != nil || own.SetReadDeadline(time.Time{}) != nil { // the poller does not know such files
		_ = own.Close()
		return false
	}
	in.readPipe = func() { _ = raw.Control(func(fd uintptr) { in.readNow(fd) }) }
	go func() {
		defer func() { _ = own.Close() }()
		for closed := false; !closed; {
			if err := raw.Read(func(fd uintptr) (some bool) {
				some, closed = in.readNow(fd)
				return some
			}); err != nil {
				return
			}
		}
	}()
	return true
}

// nonblocking returns a duplicate of f whose reads do not block.
func nonblocking(f *os.File) (own *os.File, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	failed := raw.Control(func(fd uintptr) {
		var other int
		if other, err = syscall.Dup(int(fd)); err != nil {
			return
		}
		syscall.CloseOnExec(other)
		if err = syscall.SetNonblock(other, true); err != nil {
			_ = syscall.Close(other)
			return
		}
		own = os.NewFile(uintptr(other), f.Name())
	})
	if failed != nil {
		return nil, failed
	}
	return own, err
}

// readNow reads the content of the pipe without blocking. some reports whether there was
// any, or the end.
func (in *inbox) readNow(fd uintptr) (some, closed bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return true, true
	}
	n, err := syscall.Read(int(fd), in.buffer)
	for err == syscall.EINTR {
		n, err = syscall.Read(int(fd), in.buffer)
	}
	switch {
	case err == syscall.EAGAIN:
		return false, false
	case err != nil:
		in.add(nil, err)
	case n == 0:
		in.add(nil, io.EOF)
	default:
		in.add(in.buffer[:n], nil)
	}
	return true, in.closed
}
