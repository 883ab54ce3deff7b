package udp

import (
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// sender writes batches. All memory that the kernel reads is allocated once.
type sender struct {
	headers  []mmsghdr
	vectors  []unix.Iovec // of each message, one after the other
	names    []unix.RawSockaddrInet6
	controls []segmentControl
	trains   []train      // the packets of each message
	assigned []trainIndex // of each packet
	zones    zones
	family   int
	offload  bool // the kernel cuts trains into packets
	maxBytes int  // of a train
	count    *counters

	control func(fd uintptr) // created once, so that a call does not allocate
	single  unix.Msghdr      // for a packet of a train by itself
	sent    int
}

// vectorsPerMessage is the room for packets in a system call, per message. Small
// traffic needs one, and large traffic fills few messages.
const vectorsPerMessage = 8

// init allocates room for batches. A train takes at most half of the socket's buffer,
// which has room bytes: the kernel would always refuse a longer train although it would
// take its packets one by one.
func (w *sender) init(opts *Options, family, room int, offload bool, count *counters) {
	w.family, w.offload, w.count = family, offload, count
	w.maxBytes = min(maxTrainBytes, room/2)
	batch := opts.Batch
	w.headers = make([]mmsghdr, batch)
	w.vectors = make([]unix.Iovec, batch*vectorsPerMessage)
	w.names = make([]unix.RawSockaddrInet6, batch)
	w.controls = make([]segmentControl, batch)
	w.trains = make([]train, 0, batch)
	w.assigned = make([]trainIndex, 0, len(w.vectors))
	for i := range w.headers {
		w.headers[i].header.Name = (*byte)(unsafe.Pointer(&w.names[i]))
		w.controls[i].init()
	}
	w.control = w.send
}

// fill prepares the messages of packets, and returns how many packets fit. A packet
// whose address this socket can never reach is counted and skipped.
func (w *sender) fill(pkts []Packet) (taken int) {
	taken = w.group(pkts)
	at := 0
	for i := range w.trains {
		t := &w.trains[i]
		n := t.packets * t.pieces
		t.vectors = w.vectors[at : at : at+n]
		at += n
	}
	for i, m := range w.assigned {
		if m == noTrain {
			continue
		}
		t, p := &w.trains[m], &pkts[i]
		t.vectors = append(t.vectors, vectorOf(p.Buf[:p.N]))
		if t.pieces > 1 {
			t.vectors = append(t.vectors, vectorOf(p.Tail))
		}
	}
	for i := range w.trains {
		t, h := &w.trains[i], &w.headers[i].header
		h.Namelen = t.nameLength
		h.Iov = unsafe.SliceData(t.vectors)
		h.SetIovlen(len(t.vectors))
		w.controls[i].attach(h, t)
	}
	return taken
}

func vectorOf(b []byte) unix.Iovec {
	v := unix.Iovec{Base: unsafe.SliceData(b)}
	v.SetLen(len(b))
	return v
}

// packet returns the pieces of a packet of the train.
func (t *train) packet(i int) []unix.Iovec { return t.vectors[i*t.pieces:][:t.pieces] }

// length returns the number of bytes of a packet of the train.
func (t *train) length(i int) (n int) {
	for _, v := range t.packet(i) {
		n += int(v.Len)
	}
	return n
}

// setName writes an address in the kernel's form, with IPv4 mapped to IPv6 if the
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

// send sends the prepared messages. The kernel stops at the first failing message, and
// reports the error only if that message is the first of a call. So send skips it and
// repeats the call from the next one. Every iteration makes progress in this way, or
// uses the one second chance of a message. It never blocks (see receive).
func (w *sender) send(fd uintptr) {
	w.sent = 0
	bytes, together := 0, 0
	refused := -1
	for at := 0; at < len(w.trains); {
		got, _, errno := unix.RawSyscall6(unix.SYS_SENDMMSG, fd, uintptr(unsafe.Pointer(&w.headers[at])),
			uintptr(len(w.trains)-at), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
		switch {
		case errno == 0:
			for i := at; i < at+int(got); i++ {
				t := &w.trains[i]
				w.sent += t.packets
				bytes += t.bytes
				if t.packets > 1 {
					together += t.packets
				}
			}
			at += int(got)
		case errno == unix.EINTR:
		case errno == unix.ECONNREFUSED && refused != at:
			// The error belongs to an earlier packet: this one has not been
			// tried yet.
			w.count.sendErrors.add(errno)
			refused = at
		default:
			bytes += w.retry(fd, at, errno)
			at++
		}
	}
	w.count.sentPackets.Add(uint64(w.sent))
	w.count.sentBytes.Add(uint64(bytes))
	w.count.together.Add(uint64(together))
}

// retry handles a refused message. A single packet is dropped, and so is a train if the
// error does not concern its packets. But if the train itself may be the reason, or its
// length, each packet is tried by itself. If the first one then leaves, the kernel or a
// path does not cut trains, and no more trains are made. If the length had been the
// reason, the first packet would have failed as well, because no other is longer.
func (w *sender) retry(fd uintptr, at int, errno unix.Errno) (bytes int) {
	t := &w.trains[at]
	if t.packets == 1 {
		w.count.failed(t.addr, errno)
		return 0
	}
	apart := errno == unix.EINVAL || errno == unix.EIO || errno == unix.EMSGSIZE || errno == unix.EOPNOTSUPP
	for i := range t.packets {
		if apart {
			errno = w.sendOne(fd, at, i)
		}
		if errno != 0 {
			w.count.failed(t.addr, errno)
			continue
		}
		w.sent++
		bytes += t.length(i)
		if i == 0 && w.offload {
			w.offload = false
			w.count.refused.Add(1)
		}
	}
	return bytes
}

// sendOne sends one packet of a train by itself.
func (w *sender) sendOne(fd uintptr, at, i int) unix.Errno {
	h := &w.headers[at].header
	pieces := w.trains[at].packet(i)
	w.single.Name, w.single.Namelen, w.single.Iov = h.Name, h.Namelen, &pieces[0]
	w.single.SetIovlen(len(pieces))
	for second := false; ; {
		_, _, errno := unix.RawSyscall(unix.SYS_SENDMSG, fd, uintptr(unsafe.Pointer(&w.single)),
			unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		switch {
		case errno == unix.EINTR:
		case errno == unix.ECONNREFUSED && !second: // see send
			w.count.sendErrors.add(errno)
			second = true
		default:
			return errno
		}
	}
}
