package wire

import (
	"encoding/binary"

	"github.com/failaware/failaware/broadcast"
)

// Encoder turns packets into bytes. The zero Encoder is ready for use. It belongs
// to one goroutine and must not be copied after its first use.
type Encoder struct {
	// MaxPacket is the size of the largest packet in bytes, header and body,
	// without the overhead of a sealed one. Zero means [MaxPacket]. That is
	// enough for everything in any group of up to 17 nodes ([PacketFor]), and
	// usually for proposals of 94 nodes, for views of 87 nodes that survive a
	// crash, and for views of 72 nodes that were all alone. A larger group
	// needs a larger MaxPacket at every node, and a network that carries such
	// packets. A packet with a broadcast frame may always be as large as
	// [MaxBroadcast], because the broadcast bounds its own packets.
	MaxPacket int
	// Room is how many bytes stay free between the header and the frames of a packet
	// that is to be sealed. They do not count for MaxPacket.
	Room int

	w writer
}

// Append appends the packet, header and body, to b. The body is not sealed.
// Append checks the body as strictly as [Decoder] does. On failure it returns b
// unchanged, with a [*TooLargeError] or a [*FrameError]. It does not check the
// header. It allocates only to grow b.
func (e *Encoder) Append(b []byte, p *Packet) ([]byte, error) {
	out, err := e.AppendBefore(b, p, nil)
	if err == nil && p.Header.Suite == SuiteNone {
		putWholeChecksum(out[len(b):])
	}
	return out, err
}

// AppendBroadcast appends a broadcast frame alone, as it stands at the end of
// every packet that carries it. On failure it returns b unchanged, with a
// [*FrameError].
func (e *Encoder) AppendBroadcast(b []byte, c *broadcast.Packet) ([]byte, error) {
	w := &e.w
	w.begin(b)
	w.broadcast(c)
	out := w.finish()
	if w.err != nil {
		return b, &FrameError{Frame: w.kind, Err: w.err}
	}
	return out, nil
}

// AppendBefore appends all of the packet except its broadcast frame, which is tail
// as [Encoder.AppendBroadcast] has encoded it. The caller sends tail behind the
// result, and completes the packet when it leaves ([Finish]): until then an unsealed
// packet has no checksum. With a nil tail, AppendBefore appends the whole packet.
func (e *Encoder) AppendBefore(b []byte, p *Packet, tail []byte) ([]byte, error) {
	limit := e.MaxPacket
	if limit == 0 {
		limit = MaxPacket
	}
	w := &e.w
	w.begin(AppendHeader(b, &p.Header))
	if p.Header.Suite == SuiteNone {
		w.b = append(w.b, make([]byte, sumSize)...)
		w.b = binary.BigEndian.AppendUint16(w.b, uint16(len(tail)))
	} else {
		w.b = append(w.b, make([]byte, e.Room)...)
	}
	w.body(p)
	if p.Has(FrameBroadcast) {
		limit = max(limit, MaxBroadcast)
		if tail == nil {
			w.broadcast(p.Broadcast)
		}
	}
	out := w.finish()
	if w.err != nil {
		return b, &FrameError{Frame: w.kind, Err: w.err}
	}
	size := len(out) - len(b) + len(tail)
	if p.Header.Suite != SuiteNone {
		size -= e.Room
	}
	if size > limit {
		large := &TooLargeError{Size: size, Max: limit}
		if p.Has(FrameRequest) && p.Part.View != nil {
			large.Members = len(p.Part.View.Members)
		}
		return b, large
	}
	return out, nil
}
