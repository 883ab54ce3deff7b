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

// controlRoom has room for a receive stamp, the number of dropped packets, and the size
// of coalesced packets. The type of the element aligns it as the kernel's headers
// require.
type controlRoom [10]uint64

// receiveBuffers is the limit of messages read by one call. Each needs a buffer for the
// largest message, and more of them save hardly anything.
const receiveBuffers = 32

// bufferGap offsets the beginnings of buffers in the processor's cache, in which
// addresses with equal low bits collide.
const bufferGap = 5 * 64

// receiver reads batches. All memory that the kernel fills in is allocated once.
// Untouched pages of the buffers take no memory.
type receiver struct {
	headers   []mmsghdr
	vectors   []unix.Iovec
	names     []unix.RawSockaddrInet6 // the larger of the two kinds
	controls  []controlRoom
	buffers   [][]byte
	arrivals  []arrival // messages read, in order; the first delivered ones are with the caller
	delivered int
	longest   int // longer packets are dropped
	zones     zones
	stamps    stamper
	dropped   uint32 // the kernel's last number of messages lost to a full buffer
	count     *counters

	// Arguments and results of the function under the poller, between begin and
	// end. The functions are created once, so that a call does not allocate.
	control func(fd uintptr)
	pkts    []Packet
	n       int
	err     error
}

// init allocates room for batches. With coalescing a message can be as long as the
// longest datagram, even if its packets are short.
func (r *receiver) init(opts *Options, coalesced bool, stamps stamper, count *counters) {
	r.stamps, r.count, r.longest = stamps, count, opts.MaxPacket
	batch, size := min(opts.Batch, receiveBuffers), opts.MaxPacket
	if coalesced {
		size = maxDatagram
	}
	r.headers = make([]mmsghdr, batch)
	r.vectors = make([]unix.Iovec, batch)
	r.names = make([]unix.RawSockaddrInet6, batch)
	r.controls = make([]controlRoom, batch)
	r.buffers = make([][]byte, batch)
	r.arrivals = make([]arrival, 0, batch)
	memory := make([]byte, batch*(size+bufferGap))
	for i := range r.headers {
		at := i * (size + bufferGap)
		r.buffers[i] = memory[at : at+size : at+size]
		r.vectors[i].Base = unsafe.SliceData(r.buffers[i])
		r.vectors[i].SetLen(size)
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

// receive delivers the rest of the last batch, or else reads a new one. It returns
// false when there is nothing to read.
//
// It makes system calls that never block without informing the runtime. Informing it
// would wake its watchdog thread, which on an idle node costs more than everything else
// together.
func (r *receiver) receive(fd uintptr) bool {
	if r.delivered < len(r.arrivals) {
		r.deliver()
		return true
	}
	// Read no more for a caller with little room than it needs.
	k := min(len(r.pkts), len(r.headers))
	for i := range k {
		h := &r.headers[i].header
		h.Namelen = uint32(unsafe.Sizeof(r.names[i]))
		h.SetControllen(int(unsafe.Sizeof(r.controls[i])))
	}
	for {
		got, _, errno := unix.RawSyscall6(unix.SYS_RECVMMSG, fd, uintptr(unsafe.Pointer(&r.headers[0])),
			uintptr(k), unix.MSG_DONTWAIT, 0, 0)
		switch errno {
		case 0:
			r.collect(int(got), int(got) < k)
			r.deliver()
			return true
		case unix.EINTR:
			continue
		case unix.EAGAIN:
			return false
		case unix.EBADF, unix.ENOTSOCK, unix.EFAULT, unix.EINVAL:
			r.err = errno // not a network error: it would repeat
		default:
			r.count.receiveErrors.add(errno)
		}
		return true
	}
}

// collect notes the first got messages. drained reports that there were no more.
func (r *receiver) collect(got int, drained bool) {
	r.stamps.begin()
	r.arrivals, r.delivered = r.arrivals[:0], 0
	for i := range got {
		m := &r.headers[i]
		info := parseControl(unsafe.Slice((*byte)(unsafe.Pointer(&r.controls[i])), m.header.Controllen))
		if info.hasDrops && info.drops != r.dropped {
			r.count.overflow.Add(uint64(info.drops - r.dropped))
			r.dropped = info.drops
		}
		if m.header.Flags&unix.MSG_TRUNC != 0 {
			r.count.truncated.Add(1)
			continue
		}
		a := newArrival(r.buffers[i][:m.length], info.segment)
		a.addr = r.address(&r.names[i])
		a.first = r.stamps.receipt(info.stamp, info.stamped)
		if a.size < len(a.rest) {
			a.later = r.stamps.laterReceipt(a.first, a.addr.Addr())
			r.count.coalesced.Add(uint64((len(a.rest) + a.size - 1) / a.size))
		}
		r.arrivals = append(r.arrivals, a)
	}
	r.stamps.end(drained)
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

// swapped converts a port between network byte order and this machine's.
func swapped(port uint16) uint16 {
	b := (*[2]byte)(unsafe.Pointer(&port))
	return uint16(b[0])<<8 | uint16(b[1])
}
