package udp

import (
	"errors"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// maxPayload asks a separate socket that is connected to the address, from this
// socket's local address, because the route can depend on both.
func (c *Conn) maxPayload(to netip.AddrPort) (int, error) {
	local, remote := c.local.Addr(), to.Addr().Unmap()
	if !remote.IsValid() {
		return 0, errors.New("no address")
	}
	if remote.Is4() {
		local = local.Unmap()
	}
	// The length in an IPv6 header does not include the header itself.
	family, level, option, headers, limit := unix.AF_INET6, unix.IPPROTO_IPV6, unix.IPV6_MTU, 40+8, 40+maxDatagram
	if remote.Is4() {
		family, level, option, headers, limit = unix.AF_INET, unix.IPPROTO_IP, unix.IP_MTU, 20+8, maxDatagram
	}
	fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.IPPROTO_UDP)
	if err != nil {
		return 0, os.NewSyscallError("socket", err)
	}
	defer func() { _ = unix.Close(fd) }()
	if local.Is4() == remote.Is4() && !local.IsUnspecified() {
		if err := unix.Bind(fd, sockaddr(netip.AddrPortFrom(local, 0))); err != nil {
			return 0, os.NewSyscallError("bind", err)
		}
	}
	if err := unix.Connect(fd, sockaddr(netip.AddrPortFrom(remote, to.Port()))); err != nil {
		return 0, os.NewSyscallError("connect", err)
	}
	mtu, err := unix.GetsockoptInt(fd, level, option)
	if err != nil {
		return 0, os.NewSyscallError("getsockopt", err)
	}
	return min(mtu, limit) - headers, nil
}
