package udp

import (
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mmsghdr is the kernel's header of one message in a batch.
type mmsghdr struct {
	header unix.Msghdr
	length uint32
}

// controlRoom is room for a receive stamp and the number of dropped packets. The
// array's element makes it aligned as the kernel's headers must be.
type controlRoom [8]uint64

// receiver reads batches. Everything that the kernel fills in is allocated once.
type receiver struct {
	headers  []mmsghdr
	vectors  []unix.Iovec
	names    []unix.RawSockaddrInet6 // the larger of the two kinds
	controls []controlRoom
	zones    zones
	stamps   stamper
	dropped  uint32 // the kernel's last number of packets lost to a full buffer
	count    *counters

	// What passes between begin, the function under the poller, and end. The
	// functions are made once, so that a call does not allocate.
	control func(fd uintptr)
	pkts    []Packet
	n       int
	err     error
}

func (r *receiver) init(batch int, stamps stamper, count *counters) {
	r.stamps, r.count = stamps, count
	r.headers = make([]mmsghdr, batch)
	r.vectors = make([]unix.Iovec, batch)
	r.names = make([]unix.RawSockaddrInet6, batch)
	r.controls = make([]controlRoom, batch)
	for i := range r.headers {
		h := &r.headers[i].header
		h.Name = (*byte)(unsafe.Pointer(&r.names[i]))
		h.Iov = &r.vectors[i]
		h.SetIovlen(1)
		h.Control = (*byte)(unsafe.Pointer(&r.controls[i]))
	}
	r.control = func(fd uintptr) { r.receive(fd) }
}

func (r *receiver) begin(pkts []Packet) { r.pkts, r.n, r.err = pkts, 0, nil }

func (r *receiver) end() (n int, err error) {
	r.pkts = nil
	return r.n, r.err
}

// receive reads one batch; it returns false when there is nothing to read.
//
// System calls that never block are made without telling the runtime. To tell it
// of a call wakes its watchdog thread out of its sleep, which on an idle node
// cost more than everything else together.
func (r *receiver) receive(fd uintptr) bool {
	k := min(len(r.pkts), len(r.headers))
	for i := range k {
		buf := r.pkts[i].Buf
		r.vectors[i].Base = unsafe.SliceData(buf)
		r.vectors[i].SetLen(len(buf))
		h := &r.headers[i].header
		h.Namelen = uint32(unsafe.Sizeof(r.names[i]))
		h.SetControllen(int(unsafe.Sizeof(r.controls[i])))
	}
	for {
		got, _, errno := unix.RawSyscall6(unix.SYS_RECVMMSG, fd, uintptr(unsafe.Pointer(&r.headers[0])),
			uintptr(k), unix.MSG_DONTWAIT, 0, 0)
		switch errno {
		case 0:
			r.deliver(int(got), int(got) < k)
			return true
		case unix.EINTR:
			continue
		case unix.EAGAIN:
			return false
		case unix.EBADF, unix.ENOTSOCK, unix.EFAULT, unix.EINVAL:
			r.err = errno // not of the network: it would be the same next time
		default:
			r.count.receiveErrors.add(errno)
		}
		return true
	}
}

// deliver turns the first got messages into packets. drained tells that there
// were no more.
func (r *receiver) deliver(got int, drained bool) {
	r.stamps.begin()
	n, bytes := 0, 0
	for i := range got {
		m := &r.headers[i]
		stamp, stamped := r.parseControl(&r.controls[i], int(m.header.Controllen))
		if m.header.Flags&unix.MSG_TRUNC != 0 {
			r.count.truncated.Add(1)
			continue
		}
		if n != i { // keep all buffers when a packet moves up
			r.pkts[n].Buf, r.pkts[i].Buf = r.pkts[i].Buf, r.pkts[n].Buf
		}
		p := &r.pkts[n]
		p.N = int(m.length)
		p.Addr = r.address(&r.names[i])
		p.Received = r.stamps.receipt(stamp, stamped)
		n++
		bytes += p.N
	}
	r.stamps.end(drained)
	r.count.receivedPackets.Add(uint64(n))
	r.count.receivedBytes.Add(uint64(bytes))
	r.n = n
}

// parseControl finds the receive stamp, in nanoseconds of CLOCK_REALTIME, and
// the number of dropped packets among the control messages.
func (r *receiver) parseControl(room *controlRoom, length int) (stamp int64, stamped bool) {
	base := unsafe.Pointer(room)
	for at := 0; at+unix.SizeofCmsghdr <= length; {
		h := (*unix.Cmsghdr)(unsafe.Add(base, at))
		size := int(h.Len)
		if size < unix.SizeofCmsghdr || at+size > length {
			break
		}
		data := unsafe.Add(base, at+unix.CmsgLen(0))
		payload := size - unix.CmsgLen(0)
		if h.Level == unix.SOL_SOCKET {
			switch {
			case h.Type == unix.SO_TIMESTAMPNS && payload >= int(unsafe.Sizeof(unix.Timespec{})):
				stamp, stamped = (*unix.Timespec)(data).Nano(), true
			case h.Type == unix.SO_RXQ_OVFL && payload >= 4:
				if dropped := *(*uint32)(data); dropped != r.dropped {
					r.count.overflow.Add(uint64(dropped - r.dropped))
					r.dropped = dropped
				}
			}
		}
		at += unix.CmsgSpace(payload)
	}
	return stamp, stamped
}

func (r *receiver) address(name *unix.RawSockaddrInet6) netip.AddrPort {
	switch name.Family {
	case unix.AF_INET:
		v4 := (*unix.RawSockaddrInet4)(unsafe.Pointer(name))
		return netip.AddrPortFrom(netip.AddrFrom4(v4.Addr), swapped(v4.Port))
	case unix.AF_INET6:
		a := netip.AddrFrom16(name.Addr).Unmap()
		if name.Scope_id != 0 && a.Is6() {
			a = a.WithZone(r.zones.name(name.Scope_id))
		}
		return netip.AddrPortFrom(a, swapped(name.Port))
	}
	return netip.AddrPort{}
}

// swapped turns a port between the order of bytes on the network and that of
// this machine.
func swapped(port uint16) uint16 {
	b := (*[2]byte)(unsafe.Pointer(&port))
	return uint16(b[0])<<8 | uint16(b[1])
}
