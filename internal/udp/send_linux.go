package udp

import (
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// sender writes batches. Everything that the kernel reads is allocated once.
type sender struct {
	headers []mmsghdr
	vectors []unix.Iovec
	names   []unix.RawSockaddrInet6
	zones   zones
	family  int
	count   *counters

	control func(fd uintptr) // made once, so that a call does not allocate
	filled  int
	sent    int
}

func (w *sender) init(batch, family int, count *counters) {
	w.family, w.count = family, count
	w.headers = make([]mmsghdr, batch)
	w.vectors = make([]unix.Iovec, batch)
	w.names = make([]unix.RawSockaddrInet6, batch)
	for i := range w.headers {
		h := &w.headers[i].header
		h.Name = (*byte)(unsafe.Pointer(&w.names[i]))
		h.Iov = &w.vectors[i]
		h.SetIovlen(1)
	}
	w.control = w.send
}

// fill prepares the messages of packets, at most as many as there are headers.
// A packet whose address this socket can never reach is counted and left out.
func (w *sender) fill(pkts []Packet) {
	w.filled, w.sent = 0, 0
	for i := range pkts {
		p := &pkts[i]
		length, ok := w.setName(&w.names[w.filled], p.Addr)
		if !ok {
			w.count.sendErrors.add(unix.EAFNOSUPPORT)
			continue
		}
		w.headers[w.filled].header.Namelen = length
		v := &w.vectors[w.filled]
		v.Base = unsafe.SliceData(p.Buf[:p.N])
		v.SetLen(p.N)
		w.filled++
	}
}

// setName writes an address as the kernel wants it, IPv4 mapped to IPv6 if the
// socket is an IPv6 one.
func (w *sender) setName(name *unix.RawSockaddrInet6, addr netip.AddrPort) (length uint32, ok bool) {
	a := addr.Addr()
	switch {
	case !a.IsValid():
		return 0, false
	case w.family == unix.AF_INET6:
		*name = unix.RawSockaddrInet6{Family: unix.AF_INET6, Port: swapped(addr.Port()), Addr: a.As16()}
		if zone := a.Zone(); zone != "" {
			name.Scope_id = w.zones.index(zone)
		}
		return unix.SizeofSockaddrInet6, true
	case a.Is4() || a.Is4In6():
		v4 := (*unix.RawSockaddrInet4)(unsafe.Pointer(name))
		*v4 = unix.RawSockaddrInet4{Family: unix.AF_INET, Port: swapped(addr.Port()), Addr: a.As4()}
		return unix.SizeofSockaddrInet4, true
	}
	return 0, false
}

// send sends the prepared messages. The kernel stops at the first one that
// fails and tells why only when that is the first of a call; so it is left out
// and the call repeated from the next one. Every turn of the loop makes progress
// in that way or by the one second chance that each message has. It never blocks
// (see receive).
func (w *sender) send(fd uintptr) {
	bytes := 0
	refused := -1
	for at := 0; at < w.filled; {
		got, _, errno := unix.RawSyscall6(unix.SYS_SENDMMSG, fd, uintptr(unsafe.Pointer(&w.headers[at])),
			uintptr(w.filled-at), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
		switch {
		case errno == 0:
			for i := range int(got) {
				bytes += int(w.headers[at+i].length)
			}
			w.sent += int(got)
			at += int(got)
		case errno == unix.EINTR:
		case errno == unix.ECONNREFUSED && refused != at:
			// What an earlier packet met, reported now: this one has not been
			// tried yet.
			w.count.sendErrors.add(errno)
			refused = at
		default:
			w.count.sendErrors.add(errno)
			at++
		}
	}
	w.count.sentPackets.Add(uint64(w.sent))
	w.count.sentBytes.Add(uint64(bytes))
}
