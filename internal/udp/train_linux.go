package udp

import (
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// train holds the packets of one message of the kernel. They have one address and one
// size, except the last, which may be shorter. The kernel, or the network card, cuts
// the train into packets again (UDP_SEGMENT).
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
	// maxTrain is the number of packets that all versions of the kernel cut.
	// maxTrainBytes leaves room for the headers of IPv6, UDP and Ethernet with a
	// VLAN in the 64 KiB limit of interfaces: a longer train would be cut before it
	// gets there.
	maxTrain      = 64
	maxTrainBytes = maxDatagram - 40 - 8 - 18

	// openTrains is the number of latest trains that are searched for an address,
	// so that a packet to each of many addresses costs little. Callers that send
	// much to more addresses order their packets by address.
	openTrains = 16
)

// trainIndex is the number of a packet's train.
type trainIndex int16

const noTrain trainIndex = -1

// group puts packets into trains, as many as fit. Packets to one address keep their
// order: a packet joins only the latest train to its address.
func (w *sender) group(pkts []Packet) (taken int) {
	w.trains, w.assigned = w.trains[:0], w.assigned[:0]
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
			if m := w.latest(p.Addr); m != noTrain && w.trains[m].join(p.size(), pieces, w.maxBytes) {
				w.assigned = append(w.assigned, m)
				continue
			}
		}
		m := len(w.trains)
		if m == len(w.headers) {
			break
		}
		length, ok := w.setName(&w.names[m], p.Addr)
		if !ok {
			w.count.failed(p.Addr, unix.EAFNOSUPPORT)
			w.assigned = append(w.assigned, noTrain)
			continue
		}
		w.trains = append(w.trains, train{addr: p.Addr, nameLength: length, size: p.size(), packets: 1, pieces: pieces,
			bytes: p.size(), ended: p.size() == 0})
		w.assigned = append(w.assigned, trainIndex(m))
	}
	return len(w.assigned)
}

// latest returns the latest train to an address, if it is among the last few.
func (w *sender) latest(addr netip.AddrPort) trainIndex {
	for i := len(w.trains) - 1; i >= max(0, len(w.trains)-openTrains); i-- {
		if w.trains[i].addr == addr {
			return trainIndex(i)
		}
	}
	return noTrain
}

// join adds a packet of n bytes in equally many pieces to the train, if the train then
// has at most limit bytes. An empty packet cannot be part of a train.
func (t *train) join(n, pieces, limit int) bool {
	if t.ended || n == 0 || pieces != t.pieces || n > t.size || t.packets == maxTrain || t.bytes+n > limit {
		return false
	}
	t.packets++
	t.bytes += n
	t.ended = n < t.size
	return true
}

// segmentControl is the control message with the size at which a train is cut.
type segmentControl struct {
	header unix.Cmsghdr
	size   uint16
	_      [6]byte // padding to the kernel's length
}

func (c *segmentControl) init() {
	c.header.Level, c.header.Type = unix.SOL_UDP, unix.UDP_SEGMENT
	c.header.SetLen(unix.CmsgLen(2))
}

// attach adds the control message to the header of a train that has several packets,
// and removes it otherwise.
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
