package udp

import (
	"net/netip"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/failaware/failaware/internal/hwclock"
)

// quietSize is the length of the longest quiet packet. It keeps the buffers small.
const quietSize = 512

// quietSocket is a second socket at the address of the first one, to which the kernel
// gives the quiet packets. Nobody waits for it, so they wake nobody: neither the reader,
// nor the processor that it sleeps on. The stamps of the kernel still tell when they came.
type quietSocket struct {
	file *os.File
	raw  syscall.RawConn
	in   receiver
	more bool // the last reading may have left packets
}

// newQuietSocket returns the second socket for a socket that is bound to an address. It
// fails where the kernel cannot tell the packets apart or does not stamp them.
//
// The first socket was bound alone, so that no other process has the address. Then both
// share it by SO_REUSEPORT, as the only two: the process that comes next binds alone as
// well, and is refused.
func newQuietSocket(fd, family int, local netip.AddrPort, clock *hwclock.Clock, opts *Options, count *counters) (_ *quietSocket, err error) {
	second, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.IPPROTO_UDP)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	q := &quietSocket{file: os.NewFile(uintptr(second), "quiet udp "+local.String())}
	defer func() {
		if err != nil {
			q.close()
			_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 0)
		}
	}()
	if err = setOptions(second, family, *opts); err != nil {
		return nil, err
	}
	// Packets to a group would come to both sockets.
	if err = os.NewSyscallError("setsockopt", unix.SetsockoptInt(second, unix.IPPROTO_IP, unix.IP_MULTICAST_ALL, 0)); err != nil {
		return nil, err
	}
	q.in.stamps = stamper{clock: clock, count: count}
	if q.in.stamps.enable(second); q.in.stamps.watch == nil {
		return nil, os.ErrInvalid
	}
	for _, x := range []int{fd, second} {
		if err = os.NewSyscallError("setsockopt", unix.SetsockoptInt(x, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)); err != nil {
			return nil, err
		}
	}
	if _, err = bind(second, local); err != nil {
		return nil, err
	}
	filter := quietFilter(opts.Quiet)
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err = os.NewSyscallError("setsockopt", unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_REUSEPORT_CBPF, &program)); err != nil {
		return nil, err
	}
	if q.raw, err = q.file.SyscallConn(); err != nil {
		return nil, err
	}
	small := *opts
	small.MaxPacket = quietSize
	q.in.init(&small, false, q.in.stamps, count)
	return q, nil
}

// randomNumber is where programs of the kernel's packet filter load a random number.
const randomNumber = 0xfffff000 + 56 // SKF_AD_OFF + SKF_AD_RANDOM

// quietFilter is a program of the kernel's packet filter. It returns the socket that gets
// a packet: 1 for a quiet one, and 0 for all others and for one in mark.OneIn. A packet that
// is too short for the load ends the program with 0.
func quietFilter(mark *Quiet) []unix.SockFilter {
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_LEN},
		{Code: unix.BPF_JMP | unix.BPF_JGT | unix.BPF_K, Jf: 1, K: quietSize},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},
		{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: uint32(mark.Offset)},
		{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, Jt: 1, K: uint32(mark.Mask)},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},
	}
	if mark.OneIn > 0 {
		filter = append(filter,
			unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: randomNumber},
			unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_MOD | unix.BPF_K, K: uint32(mark.OneIn)},
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: 0},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: 0})
	}
	return append(filter, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: 1})
}

// read reads packets without waiting.
func (q *quietSocket) read(pkts []Packet) (n int, err error) {
	if q.more = len(pkts) == 0; q.more {
		return 0, nil
	}
	r := &q.in
	r.begin(pkts)
	if err := q.raw.Control(r.control); err != nil {
		return 0, err
	}
	if n, err = r.end(); n == 0 {
		r.stamps.idle()
	}
	q.more = n == min(len(pkts), len(r.headers))
	r.count.quiet.Add(uint64(n))
	return n, err
}

func (q *quietSocket) close() {
	if q != nil {
		q.in.stamps.close()
		_ = q.file.Close()
	}
}

// readQuiet reads quiet packets without waiting.
func (s *socket) readQuiet(pkts []Packet) (n int, err error) {
	if s.quiet == nil {
		return 0, nil
	}
	return s.quiet.read(pkts)
}

// hasQuiet reports whether quiet packets come apart from the others.
func (s *socket) hasQuiet() bool { return s.quiet != nil }

// quietLeft reports whether there may be quiet packets that there was no room for.
func (s *socket) quietLeft() bool { return s.quiet != nil && s.quiet.more }
