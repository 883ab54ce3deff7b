package sim

import (
	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/sim/fault"
)

// codec makes packets pass through the wire format, so that a campaign also
// proves that it neither loses nor changes any of it.
type codec struct {
	enc  wire.Encoder
	dec  wire.Decoder
	buf  []byte
	junk wire.Packet // decoded from damaged bytes
}

func (w *codec) encode(p *wire.Packet) ([]byte, error) {
	if w.enc.MaxPacket == 0 {
		w.enc.MaxPacket = wire.PacketFor(MaxNodes)
	}
	b, err := w.enc.AppendBefore(w.buf[:0], p, nil)
	if err == nil {
		w.buf = b
		wire.FinishWhole(b, p.Header.Stamp, p.Header.Counter)
	}
	return b, err
}

func (w *codec) pass(p *wire.Packet) error {
	b, err := w.encode(p)
	if err != nil {
		return err
	}
	return w.dec.Decode(b, p)
}

// flip flips up to eight bits of a packet. It reports whether the decoder accepts the
// result, which junk then holds: only if the bits are those of before, unless the
// checksum is made to fit.
func (w *codec) flip(p *wire.Packet, s random.Stream, fit bool) bool {
	b, err := w.encode(p)
	if err != nil {
		return false
	}
	for range s.Between(1, 8) {
		b[s.Below(int64(len(b)))] ^= 1 << s.Below(8)
	}
	if h, _, err := wire.ParseHeader(b); fit && err == nil {
		wire.FinishWhole(b, h.Stamp, h.Counter)
	}
	return w.dec.Decode(b, &w.junk) == nil
}

// cutOff does the same with a packet that lacks its end.
func (w *codec) cutOff(p *wire.Packet, s random.Stream) bool {
	b, err := w.encode(p)
	return err == nil && w.dec.Decode(b[:s.Below(int64(len(b)))], &w.junk) == nil
}

// size returns how many bytes a packet has on the wire.
func (w *World) size(p *wire.Packet) int {
	b, err := w.codec.encode(p)
	if err != nil {
		return fault.MaxSize
	}
	return len(b)
}
