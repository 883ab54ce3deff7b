//go:build unix

package api

import (
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// lockPatience is how long to wait for somebody else who holds a directory's
// lock; the lock only prevents a race.
const lockPatience = 2 * time.Second

func lockDir(dir string) (unlock func()) {
	d, err := os.Open(dir)
	if err != nil {
		return func() {}
	}
	for end := time.Now().Add(lockPatience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if unix.Flock(int(d.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			break
		}
	}
	return func() { _ = d.Close() }
}

var maskMu sync.Mutex

// bind makes a socket of the right mode from the beginning: the mask of the
// process is changed for a moment, to a stricter one.
func bind(path string) (*net.UnixListener, error) {
	maskMu.Lock()
	defer maskMu.Unlock()
	old := unix.Umask(0o777 &^ int(socketMode))
	defer unix.Umask(old)
	return net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
}
