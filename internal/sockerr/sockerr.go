// Package sockerr gives the errors of sockets the same names on all systems.
package sockerr

import (
	"errors"
	"syscall"
)

// winsock are the errors of sockets on Windows by their numbers, which no other system has. The
// numbers of the usual names are invented there: no call of the system returns them.
var winsock = map[syscall.Errno]syscall.Errno{
	10013: syscall.EACCES,
	10022: syscall.EINVAL,
	10035: syscall.EAGAIN,
	10040: syscall.EMSGSIZE,
	10047: syscall.EAFNOSUPPORT,
	10048: syscall.EADDRINUSE,
	10049: syscall.EADDRNOTAVAIL,
	10050: syscall.ENETDOWN,
	10051: syscall.ENETUNREACH,
	10054: syscall.ECONNRESET,
	10055: syscall.ENOBUFS,
	10061: syscall.ECONNREFUSED,
	10064: syscall.EHOSTDOWN,
	10065: syscall.EHOSTUNREACH,
}

// Of returns the system's error in err by its usual name; 0, which has none, if there is none.
func Of(err error) syscall.Errno {
	e, _ := errors.AsType[syscall.Errno](err)
	if usual, ok := winsock[e]; ok {
		return usual
	}
	return e
}
