package wire

import (
	"encoding/binary"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/datagram"
)

// Decoder turns bytes into packets. It accepts exactly what an [Encoder] writes,
// except that integers may be wider than they need to be. The zero Decoder is
// ready for use. It belongs to one goroutine and must not be copied after its
// first use.
//
// Decoder is meant for the bodies of authenticated packets but is safe with any
// input: it never panics, and it allocates at most a few hundred bytes plus about
// 20 bytes for each byte of input.
type Decoder struct {
	r         reader
	broadcast broadcast.Packet // reused by every packet
	collated  Collated         // reused by every packet
}

// Decode reads a whole packet into p and overwrites all of p. The body of a packet that
// says that it is sealed must have been opened in place: it has no checksum. The error
// is one of those of [ParseHeader] and [Unsealed] or a [*FrameError]; p is zero then.
//
// Packet.Broadcast and Packet.Collated belong to the Decoder and are valid until
// its next call, as are the payloads in them, which point into b. Views, epoch
// states, and the reports, plans and commits of a broadcast frame are allocated
// for each packet and may be kept.
func (d *Decoder) Decode(b []byte, p *Packet) error {
	h, frames, err := ParseHeader(b)
	if err == nil && h.Suite == SuiteNone {
		frames, err = Unsealed(b)
	}
	if err != nil {
		*p = Packet{}
		return err
	}
	return d.DecodeFrames(h, frames, p)
}

// DecodeFrames is [Decoder.Decode] for a caller that has already parsed the header
// and verified the checksum or opened the seal.
func (d *Decoder) DecodeFrames(h datagram.Header, frames []byte, p *Packet) error {
	*p = Packet{Header: h}
	kind, err := d.frames(frames, p)
	if err != nil {
		*p = Packet{}
		return &FrameError{Frame: kind, Err: err}
	}
	return nil
}

// frames reads the frames of a body. With an error it returns the type of the
// offending frame.
func (d *Decoder) frames(body []byte, p *Packet) (kind byte, err error) {
	if HasSettings(body) {
		return typeSettings, d.settings(body, p)
	}
	last := byte(0)
	for len(body) > 0 {
		kind := body[0]
		switch {
		case len(body) < frameHead:
			return kind, ErrTruncated
		case kind < typeHello || kind >= typeEnd:
			return kind, ErrUnknownFrame
		case last == 0 && kind != typeHello:
			return kind, ErrNoHello
		case kind <= last:
			return kind, ErrFrameOrder
		}
		n := int(binary.BigEndian.Uint16(body[1:]))
		if n > len(body)-frameHead {
			return kind, ErrTruncated
		}
		d.r.begin(body[frameHead : frameHead+n])
		switch kind {
		case typeBroadcast:
			p.Broadcast = &d.broadcast
		case typeCollated:
			p.Collated = &d.collated
		}
		d.r.frame(kind, p)
		if err := d.r.finish(); err != nil {
			return kind, err
		}
		if kind != typeHello {
			p.Frames |= frameBit(kind)
		}
		last, body = kind, body[frameHead+n:]
	}
	if last == 0 {
		return 0, ErrNoHello
	}
	return 0, nil
}

// settings reads the body of a packet that has settings, and nothing else.
func (d *Decoder) settings(body []byte, p *Packet) error {
	if len(body) != frameHead+settingsBytes || binary.BigEndian.Uint16(body[1:]) != settingsBytes {
		return ErrLength
	}
	d.r.begin(body[frameHead:])
	p.Settings = d.r.settings()
	return d.r.finish()
}
