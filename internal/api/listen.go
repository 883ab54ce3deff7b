package api

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/failaware/failaware/internal/durable"
	"github.com/failaware/failaware/internal/sockerr"
)

// ErrInUse: another process answers at the socket.
var ErrInUse = errors.New("another process answers at the socket")

// socketMode allows the owner and the group.
const socketMode fs.FileMode = 0o660

// MaxSocketPath is the longest path that fits into an address on all systems.
const MaxSocketPath = 103

// ListenUnix creates a unix socket that the user and the group may use. It replaces the
// socket of a dead process. If the process is alive, the error is [ErrInUse].
func ListenUnix(path string) (net.Listener, error) {
	if len(path) > MaxSocketPath {
		return nil, fmt.Errorf("the API socket %s: the path is longer than %d bytes", path, MaxSocketPath)
	}
	var err error
	if path == DefaultSocket() {
		if err = makeDefaultDir(); err != nil {
			return nil, fmt.Errorf("the directory of the API socket: %w", err)
		}
	}
	l, err := makeSocket(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the API socket %s: its directory does not exist", path)
	}
	if err != nil {
		return nil, fmt.Errorf("the API socket %s: %w", path, plain(err))
	}
	return l, nil
}

// CheckUnix says why [ListenUnix] would refuse a path. It changes nothing, and does not ask
// whether a process answers there.
func CheckUnix(path string) error {
	if path == DefaultSocket() {
		return nil // ListenUnix makes its directory
	}
	_, err := findSocket(path)
	if err == nil {
		dir := filepath.Dir(path)
		if _, err = os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the API socket %s: its directory does not exist", path)
		}
		err = durable.CheckDir(dir)
	}
	if err != nil {
		return fmt.Errorf("the API socket %s: %w", path, plain(err))
	}
	return nil
}

// ListenTCP listens at a TCP address. The error is for users, and names the address.
func ListenTCP(addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	switch errno := sockerr.Of(err); {
	case err == nil:
		return l, nil
	case errno == syscall.EADDRINUSE:
		return nil, fmt.Errorf("the address %s is in use", addr)
	case errno == syscall.EADDRNOTAVAIL:
		return nil, fmt.Errorf("%s is no address of this machine", addr)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("this user may not listen at %s: a port below 1024 needs CAP_NET_BIND_SERVICE or root", addr)
	}
	if wrong, ok := errors.AsType[*net.AddrError](err); ok {
		return nil, fmt.Errorf("%q is not HOST:PORT: %s", addr, wrong.Err)
	}
	return nil, fmt.Errorf("cannot listen at %s: %w", addr, plain(err))
}

// lockPatience is how long to wait for another node that starts at the same socket.
const lockPatience = 2 * time.Second

// lockSocket takes a lock beside a socket. Only the user of this process can open the
// lock's file, so that nobody else can hold the lock. It waits while another node of
// the same user holds it.
func lockSocket(path string) (*durable.Lock, error) {
	lock, err := durable.AwaitLock(path+".lock", lockPatience)
	if errors.Is(err, durable.ErrLocked) {
		return nil, ErrInUse
	}
	return lock, err
}

func makeSocket(path string) (net.Listener, error) {
	if _, err := findSocket(path); err != nil {
		return nil, err // no lock is left beside a file of somebody else
	}
	// Of two processes that start at the same time, only one may find the socket
	// of a dead process.
	lock, err := lockSocket(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = lock.Release() }()
	exists, err := findSocket(path)
	switch {
	case err != nil:
		return nil, err
	case exists:
		c, err := net.DialTimeout("unix", path, time.Second)
		if err == nil {
			_ = c.Close()
			return nil, ErrInUse
		}
		if sockerr.Of(err) != syscall.ECONNREFUSED {
			return nil, err // alive but busy, or another user's
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	l, err := bind(path)
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	made, err := os.Lstat(path)
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	return &unixListener{UnixListener: l, path: path, made: made}, nil
}

// findSocket reports whether a socket exists, alive or dead. The error is not nil if another
// file is in its place.
func findSocket(path string) (exists bool, err error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case info.Mode().Type() != fs.ModeSocket:
		return false, errors.New("a file that is not a socket exists")
	}
	return true, nil
}

// plain removes parts of an error that repeat the path.
func plain(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	if sys, ok := errors.AsType[*os.SyscallError](err); ok {
		err = sys.Err
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return err
}

// unixListener removes its socket when it closes, but not another socket that has taken
// its place.
type unixListener struct {
	*net.UnixListener
	path string
	made fs.FileInfo
	once sync.Once
}

func (l *unixListener) Close() error {
	err := l.UnixListener.Close()
	l.once.Do(func() {
		if now, e := os.Lstat(l.path); e == nil && os.SameFile(now, l.made) {
			_ = os.Remove(l.path)
		}
	})
	return err
}
