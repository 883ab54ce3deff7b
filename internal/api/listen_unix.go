//go:build unix

package api

import (
	"net"
	"sync"

	"golang.org/x/sys/unix"
)

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
