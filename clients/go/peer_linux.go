package client

import (
	"net"
	"syscall"
)

// peerUser returns the user whose process made the socket's other end listen.
func peerUser(c *net.UnixConn) (user int, known bool, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, false, err
	}
	var cred *syscall.Ucred
	if e := raw.Control(func(fd uintptr) {
		cred, err = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}); e != nil || err != nil {
		if err == nil {
			err = e
		}
		return 0, false, err
	}
	return int(cred.Uid), true, nil
}
