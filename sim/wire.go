package sim

import (
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/stack"
)

// wire makes packets pass through the wire format, so that a campaign also
// proves that nothing of what the machines say is lost or changed by it.
type wire struct {
	enc stack.Encoder
	dec stack.Decoder
	buf []byte
}

func (w *wire) pass(p *stack.Packet) error {
	if w.enc.MaxPacket == 0 {
		w.enc.MaxPacket = stack.PacketFor(MaxNodes)
	}
	b, err := w.enc.Append(w.buf[:0], p)
	if err != nil {
		return err
	}
	w.buf = b
	datagram.PatchStamp(b, p.Header.Stamp, p.Header.Counter)
	return w.dec.Decode(b, p)
}
