//go:build unix

package api

import (
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/failaware/failaware/internal/trust"
)

// lockPatience is how long to wait for another node that starts at the same socket.
const lockPatience = 2 * time.Second

// lockSocket takes a lock beside a socket. Only the user of this process can open the
// lock's file, so that nobody else can hold the lock. The file stays, because two
// processes could lock different files otherwise.
func lockSocket(path string) (unlock func(), err error) {
	f, err := trust.Open(path+".lock", os.O_CREATE|os.O_RDWR, 0o600, trust.Private)
	if err != nil {
		return nil, err
	}
	for end := time.Now().Add(lockPatience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err == nil {
			return func() { _ = f.Close() }, nil
		}
	}
	_ = f.Close()
	return nil, ErrInUse
}

var maskMu sync.Mutex

// bind makes a socket of the right mode from the beginning: it changes the mask of
// the process for a moment, to a stricter one.
func bind(path string) (*net.UnixListener, error) {
	maskMu.Lock()
	defer maskMu.Unlock()
	old := unix.Umask(0o777 &^ int(socketMode))
	defer unix.Umask(old)
	return net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
}
