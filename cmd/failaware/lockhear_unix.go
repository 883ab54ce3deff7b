//go:build unix

package main

import (
	"io"
	"os"
	"syscall"
	"time"
)

// hear begins to hear a reader. If that is a file, its content is heard even if the
// goroutine runs late.
func hear(r io.Reader) *hearing {
	h := newHearing()
	if f, ok := r.(*os.File); ok && h.hearFile(f) {
		return h
	}
	go h.follow(r)
	return h
}

// hearFile hears a file that can be read without waiting, and reports whether it is one.
func (h *hearing) hearFile(f *os.File) bool {
	own, err := neverWaits(f)
	if err != nil {
		return false
	}
	raw, err := own.SyscallConn()
	if err != nil || own.SetReadDeadline(time.Time{}) != nil { // the poller does not know such files
		_ = own.Close()
		return false
	}
	h.look = func() { _ = raw.Control(func(fd uintptr) { h.readNow(fd) }) }
	go func() {
		defer func() { _ = own.Close() }()
		for gone := false; !gone; {
			if err := raw.Read(func(fd uintptr) (some bool) {
				some, gone = h.readNow(fd)
				return some
			}); err != nil {
				return
			}
		}
	}()
	return true
}

// neverWaits returns another file for what f reads, of which reading does not wait.
func neverWaits(f *os.File) (own *os.File, err error) {
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

// readNow reads all that the pipe holds. some reports that there was something, or the end.
func (h *hearing) readNow(fd uintptr) (some, gone bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.gone {
		return true, true
	}
	n, err := syscall.Read(int(fd), h.room)
	for err == syscall.EINTR {
		n, err = syscall.Read(int(fd), h.room)
	}
	switch {
	case err == syscall.EAGAIN:
		return false, false
	case err != nil:
		h.add(nil, err)
	case n == 0:
		h.add(nil, io.EOF)
	default:
		h.add(h.room[:n], nil)
	}
	return true, h.gone
}
