package udp

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/timed"
)

// socket is a non-blocking socket. Its reader waits in waiter.
type socket struct {
	file   *os.File
	raw    syscall.RawConn
	waiter *waiter
	quiet  *quietSocket // nil: there is none
	in     receiver
	out    sender
}

func open(addr *net.UDPAddr, clock *hwclock.Clock, opts Options, count *counters) (*socket, netip.AddrPort, error) {
	if len(addr.IP) == 0 { // all addresses: one socket for both families, if there is IPv6
		s, local, err := openAt(netip.AddrPortFrom(netip.IPv6Unspecified(), uint16(addr.Port)), clock, opts, count)
		if !errors.Is(err, unix.EAFNOSUPPORT) && !errors.Is(err, unix.EADDRNOTAVAIL) {
			return s, local, err
		}
		addr = &net.UDPAddr{IP: net.IPv4zero, Port: addr.Port}
	}
	ap := addr.AddrPort()
	return openAt(netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port()), clock, opts, count)
}

func openAt(addr netip.AddrPort, clock *hwclock.Clock, opts Options, count *counters) (_ *socket, local netip.AddrPort, err error) {
	family := unix.AF_INET
	if addr.Addr().Is6() {
		family = unix.AF_INET6
	}
	fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.IPPROTO_UDP)
	if err != nil {
		return nil, local, os.NewSyscallError("socket", err)
	}
	file := os.NewFile(uintptr(fd), "udp "+addr.String())
	s := &socket{file: file}
	defer func() {
		if err != nil {
			_ = s.close()
		}
	}()
	if err = setOptions(fd, family, opts); err != nil {
		return nil, local, err
	}
	if local, err = bind(fd, addr); err != nil {
		return nil, local, err
	}
	if s.waiter, err = newWaiter(fd, &s.in); err != nil {
		return nil, local, err
	}
	if s.raw, err = file.SyscallConn(); err != nil {
		return nil, local, err
	}
	stamps := stamper{clock: clock, count: count}
	if !opts.NoKernelStamps {
		stamps.enable(fd)
	}
	// Without these options a kernel has no offload, which only costs time.
	coalesced := !opts.NoReceiveOffload && unix.SetsockoptInt(fd, unix.SOL_UDP, unix.UDP_GRO, 1) == nil
	_, unknown := unix.GetsockoptInt(fd, unix.SOL_UDP, unix.UDP_SEGMENT)
	_, sendBuffer := s.buffers()
	s.in.init(&opts, coalesced, stamps, count)
	s.out.init(&opts, family, sendBuffer, !opts.NoSendOffload && unknown == nil, count)
	if opts.Quiet != nil {
		// Without a second socket quiet packets wake the reader, and nothing else changes.
		s.quiet, _ = newQuietSocket(fd, family, local, clock, &opts, count)
	}
	return s, local, nil
}

func setOptions(fd, family int, opts Options) error {
	set := func(level, option, value int) error {
		return os.NewSyscallError("setsockopt", unix.SetsockoptInt(fd, level, option, value))
	}
	// Packets that are too long for the interface are refused, not fragmented. The
	// path's MTU is ignored, because anyone can forge it. (An IPv6 socket has both
	// options, because it carries IPv4 as well.)
	if err := set(unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_PROBE); err != nil {
		return err
	}
	if family == unix.AF_INET6 {
		if err := set(unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 0); err != nil {
			return err
		}
		if err := set(unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_PMTUDISC_PROBE); err != nil {
			return err
		}
	}
	// The count of packets lost to the full buffer comes with other packets.
	if err := set(unix.SOL_SOCKET, unix.SO_RXQ_OVFL, 1); err != nil {
		return err
	}
	for _, buffer := range []struct{ size, force, option int }{
		{opts.ReceiveBuffer, unix.SO_RCVBUFFORCE, unix.SO_RCVBUF},
		{opts.SendBuffer, unix.SO_SNDBUFFORCE, unix.SO_SNDBUF},
	} {
		if buffer.size <= 0 {
			continue
		}
		if set(unix.SOL_SOCKET, buffer.force, buffer.size) == nil { // ignores the limit, but needs a privilege
			continue
		}
		if err := set(unix.SOL_SOCKET, buffer.option, buffer.size); err != nil {
			return err
		}
	}
	return nil
}

// sockaddr returns an address in the form of a socket of its family.
func sockaddr(addr netip.AddrPort) unix.Sockaddr {
	a := addr.Addr()
	if a.Is4() {
		return &unix.SockaddrInet4{Port: int(addr.Port()), Addr: a.As4()}
	}
	var z zones
	return &unix.SockaddrInet6{Port: int(addr.Port()), Addr: a.As16(), ZoneId: z.index(a.Zone())}
}

func bind(fd int, addr netip.AddrPort) (local netip.AddrPort, err error) {
	if err := unix.Bind(fd, sockaddr(addr)); err != nil {
		return local, os.NewSyscallError("bind", err)
	}
	bound, err := unix.Getsockname(fd)
	if err != nil {
		return local, os.NewSyscallError("getsockname", err)
	}
	port := addr.Port()
	switch b := bound.(type) {
	case *unix.SockaddrInet4:
		port = uint16(b.Port)
	case *unix.SockaddrInet6:
		port = uint16(b.Port)
	}
	return netip.AddrPortFrom(addr.Addr(), port), nil
}

// poll reads the available packets without waiting, whatever the read deadline is.
func (s *socket) poll(pkts []Packet) (n int, err error) {
	r := &s.in
	r.begin(pkts)
	if err := s.raw.Control(r.control); err != nil {
		return 0, err
	}
	return r.end()
}

// wait reads packets that are there or come until about the deadline, an earlier
// deadline set meanwhile, or a wake.
func (s *socket) wait(pkts []Packet, now, deadline timed.Instant, signals *signals) (n int, err error) {
	r := &s.in
	r.begin(pkts)
	if err := s.waiter.wait(now, deadline, signals); err != nil {
		return 0, err
	}
	return r.end()
}

// wake ends the wait under way, or else the next one.
func (s *socket) wake() { s.waiter.interrupt() }

// hasten ends the wait under way at the deadline.
func (s *socket) hasten(now, deadline timed.Instant) { s.waiter.hasten(now, deadline) }

// idle reads the clock right after the socket was found empty.
func (s *socket) idle() timed.Instant { return s.in.stamps.idle() }

func (s *socket) write(pkts []Packet) (sent int, err error) {
	w := &s.out
	for len(pkts) > 0 {
		taken := w.fill(pkts)
		if err := s.raw.Control(w.control); err != nil {
			return sent, err
		}
		sent += w.sent
		pkts = pkts[taken:]
	}
	return sent, nil
}

// buffers returns the sizes of the buffers. A closed socket has none.
func (s *socket) buffers() (receive, send int) {
	_ = s.raw.Control(func(fd uintptr) {
		receive, _ = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF)
		send, _ = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_SNDBUF)
	})
	return max(receive, 0), max(send, 0)
}

func (s *socket) close() error {
	// Close the waiter first, because its reader uses the socket.
	if s.waiter != nil {
		s.waiter.close()
	}
	s.quiet.close()
	s.in.stamps.close()
	return s.file.Close()
}
