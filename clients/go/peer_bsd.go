//go:build darwin || freebsd

package client

import (
	"net"

	"golang.org/x/sys/unix"
)

// solLocal is the level of options of unix sockets, SOL_LOCAL.
const solLocal = 0

// peerUser returns the user whose process made the socket's other end listen.
func peerUser(c *net.UnixConn) (user int, known bool, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, false, err
	}
	var cred *unix.Xucred
	if e := raw.Control(func(fd uintptr) {
		cred, err = unix.GetsockoptXucred(int(fd), solLocal, unix.LOCAL_PEERCRED)
	}); e != nil || err != nil {
		if err == nil {
			err = e
		}
		return 0, false, err
	}
	return int(cred.Uid), true, nil
}
