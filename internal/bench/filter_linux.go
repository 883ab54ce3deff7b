package bench

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// dropFrom makes the kernel drop packets from the given ports of this host at this
// process's UDP sockets of a port. Without ports, nothing is dropped. The node does not
// know it: for it, the network is cut.
func dropFrom(local uint16, ports []uint16) error {
	if len(ports) > 250 {
		return errors.New("too many ports") // a jump of the filter is one byte
	}
	fds, err := socketsAt(local)
	for _, fd := range fds {
		err = errors.Join(err, filter(fd, ports))
	}
	return err
}

// filter makes the kernel drop packets from the given ports at a socket.
func filter(fd int, ports []uint16) error {
	if len(ports) == 0 {
		err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DETACH_FILTER, 0)
		if errors.Is(err, unix.ENOENT) {
			return nil // there was no filter
		}
		return os.NewSyscallError("setsockopt", err)
	}
	// A filter of a UDP socket sees the UDP header first: the source port.
	code := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_H | unix.BPF_ABS, K: 0}}
	for i, p := range ports {
		code = append(code, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: uint8(len(ports) - i), K: uint32(p)})
	}
	code = append(code, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: 0xffff}, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: 0})
	prog := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	return os.NewSyscallError("setsockopt", unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &prog))
}

// socketsAt finds the datagram sockets of this process that are bound to a port: quiet
// packets come to a second one. A node does not hand out its sockets; no one else of this
// process uses UDP.
func socketsAt(port uint16) (fds []int, err error) {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if kind, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE); err != nil || kind != unix.SOCK_DGRAM {
			continue
		}
		at, err := unix.Getsockname(fd)
		if err != nil {
			continue
		}
		if v4, ok := at.(*unix.SockaddrInet4); ok && v4.Port == int(port) {
			fds = append(fds, fd)
		}
	}
	if len(fds) == 0 {
		return nil, errors.New("the node's socket was not found")
	}
	return fds, nil
}
