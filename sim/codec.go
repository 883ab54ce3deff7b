package sim

import (
	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/sim/fault"
)

// codec passes packets through the wire format, so that a campaign also shows that
// encoding loses and changes nothing.
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

// flip flips up to eight random bits of an encoded packet, and makes the checksum fit if
// fit is set. It reports whether the decoder accepts the result, which junk then holds.
// Without fit it accepts only flips that cancel each other.
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

// cutOff is flip for a packet without its end.
func (w *codec) cutOff(p *wire.Packet, s random.Stream) bool {
	b, err := w.encode(p)
	return err == nil && w.dec.Decode(b[:s.Below(int64(len(b)))], &w.junk) == nil
}

// size returns the encoded size of a packet in bytes.
func (w *World) size(p *wire.Packet) int {
	b, err := w.codec.encode(p)
	if err != nil {
		return fault.MaxSize
	}
	return len(b)
}
