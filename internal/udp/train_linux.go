package udp

import (
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// train is what one message of the kernel carries: packets to one address, all of
// the size of the first but for the last, which may be shorter. The kernel, or the
// network card, cuts it into packets again (UDP_SEGMENT).
type train struct {
	addr       netip.AddrPort
	nameLength uint32
	size       int // of the first packet
	packets    int
	pieces     int // of each packet: 1, or 2 with tails
	bytes      int // of all packets
	ended      bool
	vectors    []unix.Iovec
}

const (
	// maxTrain is how many packets all versions of the kernel cut, and maxTrainBytes
	// leaves room for the headers of IPv6, UDP and Ethernet with a VLAN in the
	// 64 KiB that interfaces take: a longer train is cut before it gets there.
	maxTrain      = 64
	maxTrainBytes = maxDatagram - 40 - 8 - 18

	// openTrains is among how many of the latest trains the one of an address is
	// looked for, so that a packet to each of many addresses costs little. Callers
	// that send much to more addresses do so one address after the other.
	openTrains = 16
)

// place is the number of the train that a packet is in.
type place int16

const nowhere place = -1

// couple puts packets into trains, as many as there is room for. Packets to one
// address keep their order: a packet joins only the latest train to its address.
func (w *sender) couple(pkts []Packet) (taken int) {
	w.trains, w.places = w.trains[:0], w.places[:0]
	vectors := 0
	for i := range pkts {
		p, pieces := &pkts[i], 1
		if len(p.Tail) > 0 {
			pieces = 2
		}
		if vectors += pieces; vectors > len(w.vectors) {
			break
		}
		if w.offload {
			if m := w.latest(p.Addr); m != nowhere && w.trains[m].join(p.size(), pieces, w.maxBytes) {
				w.places = append(w.places, m)
				continue
			}
		}
		m := len(w.trains)
		if m == len(w.headers) {
			break
		}
		length, ok := w.setName(&w.names[m], p.Addr)
		if !ok {
			w.count.sendErrors.add(unix.EAFNOSUPPORT)
			w.places = append(w.places, nowhere)
			continue
		}
		w.trains = append(w.trains, train{addr: p.Addr, nameLength: length, size: p.size(), packets: 1, pieces: pieces,
			bytes: p.size(), ended: p.size() == 0})
		w.places = append(w.places, place(m))
	}
	return len(w.places)
}

// latest returns the latest train to an address, if it is among the last few.
func (w *sender) latest(addr netip.AddrPort) place {
	for i := len(w.trains) - 1; i >= max(0, len(w.trains)-openTrains); i-- {
		if w.trains[i].addr == addr {
			return place(i)
		}
	}
	return nowhere
}

// join couples a packet of n bytes in pieces like those of the others, if the train
// then has no more than limit bytes. An empty packet cannot be cut off.
func (t *train) join(n, pieces, limit int) bool {
	if t.ended || n == 0 || pieces != t.pieces || n > t.size || t.packets == maxTrain || t.bytes+n > limit {
		return false
	}
	t.packets++
	t.bytes += n
	t.ended = n < t.size
	return true
}

// segmentControl is the control message that tells where a train is to be cut.
type segmentControl struct {
	header unix.Cmsghdr
	size   uint16
	_      [6]byte // to the length that the kernel expects
}

func (c *segmentControl) init() {
	c.header.Level, c.header.Type = unix.SOL_UDP, unix.UDP_SEGMENT
	c.header.SetLen(unix.CmsgLen(2))
}

// attach adds the control message to the header of a train that has several
// packets, and takes it off otherwise.
func (c *segmentControl) attach(h *unix.Msghdr, t *train) {
	if t.packets == 1 {
		h.Control = nil
		h.SetControllen(0)
		return
	}
	c.size = uint16(t.size)
	h.Control = (*byte)(unsafe.Pointer(c))
	h.SetControllen(unix.CmsgSpace(2))
}
