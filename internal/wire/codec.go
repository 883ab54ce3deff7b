package wire

import (
	"encoding/binary"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/datagram"
)

// A packet on the wire is the clear header and a body. The body is a list of
// frames, each a type (one byte), the length of its message (two bytes, big
// endian) and the message, a MessagePack array. The frames stand in the order of
// their types, none twice, and the first is always the hello.
//
// Frames other than these, and longer or shorter messages, are errors: within
// version 1 of the wire format nothing is added, because what one node skips
// and another obeys would no longer be one protocol. An extension takes a new
// version, which the header shows before anything is decoded.
const (
	wireHello   = 1
	wireInUse   = 2
	wireRelease = 3
	wireResign  = 4
	wireDropped = 5
	wireRequest = 6
	wireLine    = 7
	wireReply   = 8
	wireLeaving = 9
	wireUTC     = 10
	wireSamples = 11

	wireQuorum    = 12
	wireStamp     = 13
	wireQuestion  = 14
	wireAnswer    = 15
	wireSuccessor = 16

	wireTree     = 17
	wireCollated = 18

	wireEpoch = 19

	// The broadcast's frame is the last, so that one encoding of it serves all
	// members.
	wireCast = 20
	wireEnd  = wireCast + 1

	frameHead = 3 // type and length
	frameMost = 1<<16 - 1
)

// frameBit returns the bit of [Frames] for a type after the hello.
func frameBit(kind byte) Frames { return 1 << (kind - wireInUse) }

// Encoder turns packets into bytes. The zero Encoder is ready. It is for one
// goroutine, and must not be copied once it has been used.
type Encoder struct {
	// MaxPacket is the largest packet in bytes, header and body; zero stands
	// for [MaxPacket]. That carries everything in any group of up to
	// 17 nodes ([PacketFor]), and as a rule views of 73 nodes that were all
	// alone and meet, views of 88 that survive a crash, and proposals of 95.
	// A larger group needs a larger MaxPacket at every node, and a network
	// that carries it. Packets with a broadcast frame may be as large as
	// MaxBroadcast: the sender of messages bounds those itself.
	MaxPacket int

	w writer
}

// PacketFor returns how many bytes hold every packet of a group of n nodes,
// whatever happens in it: all frames in one packet, every number as wide as can
// be, every member from a view of its own whose leader is gone. Where replies
// are collated, requests take up to TreeBytes more; collated replies are packets
// of their own, and small. So are reports of epochs, which take [ReportFor] bytes.
func PacketFor(n int) int { return packetFixed + n*memberMost }

// Append appends the packet to b: header and body, unsealed. It checks the body
// as strictly as [Decoder] does, and returns b as it was with a [*TooLargeError]
// or a [*FrameError]. It does not check the header, which the driver completes
// when the packet leaves. Append allocates only to grow b.
func (e *Encoder) Append(b []byte, p *Packet) ([]byte, error) { return e.AppendBefore(b, p, nil) }

// AppendCast appends the broadcast frame alone, as it stands at the end of every
// packet that carries it. b is returned as it was with a [*FrameError].
func (e *Encoder) AppendCast(b []byte, c *broadcast.Packet) ([]byte, error) {
	w := &e.w
	w.begin(b)
	w.cast(c)
	out := w.finish()
	if w.err != nil {
		return b, &FrameError{Frame: w.kind, Err: w.err}
	}
	return out, nil
}

// AppendBefore is Append without the broadcast frame, which is tail already, as
// AppendCast has written it, and follows what is appended.
func (e *Encoder) AppendBefore(b []byte, p *Packet, tail []byte) ([]byte, error) {
	limit := e.MaxPacket
	if limit == 0 {
		limit = MaxPacket
	}
	w := &e.w
	w.begin(AppendHeader(b, &p.Header))
	w.body(p)
	if p.Has(FrameBroadcast) {
		limit = max(limit, MaxBroadcast)
		if tail == nil {
			w.cast(p.Broadcast)
		}
	}
	out := w.finish()
	if w.err != nil {
		return b, &FrameError{Frame: w.kind, Err: w.err}
	}
	if size := len(out) - len(b) + len(tail); size > limit {
		large := &TooLargeError{Size: size, Max: limit}
		if p.Has(FrameRequest) && p.Part.View != nil {
			large.Members = len(p.Part.View.Members)
		}
		return b, large
	}
	return out, nil
}

// Decoder turns bytes into packets. It accepts what an [Encoder] writes and
// nothing else, except that integers may be wider than they need to be. The
// zero Decoder is ready. It is for one goroutine, and must not be copied once
// it has been used.
//
// It is meant for the bodies of authenticated packets, but keeps its head with
// any: it never panics, and never allocates more than a few hundred bytes and
// some 20 bytes for each byte of input.
type Decoder struct {
	r    reader
	cast broadcast.Packet // its memory is used again
	coll Collated         // so is this
}

// Decode reads a whole unsealed packet into p, and overwrites all of p. The
// error is one of those of [ParseHeader], or a [*FrameError]; p is zero
// then. Decode allocates nothing but the view of a proposal or commit, which is
// new each time and may be kept. Broadcast and Collated are the decoder's own and
// valid until its next call; messages in it point into b, but reports, plans and commits may
// be kept.
func (d *Decoder) Decode(b []byte, p *Packet) error {
	h, body, err := ParseHeader(b)
	if err != nil {
		*p = Packet{}
		return err
	}
	return d.DecodeBody(h, body, p)
}

// DecodeBody is Decode for a caller that has parsed the header and opened the
// seal already.
func (d *Decoder) DecodeBody(h datagram.Header, body []byte, p *Packet) error {
	*p = Packet{Header: h}
	kind, err := d.frames(body, p)
	if err != nil {
		*p = Packet{}
		return &FrameError{Frame: kind, Err: err}
	}
	return nil
}

// frames reads the frames of a body. With an error it returns the type of the
// frame that is wrong.
func (d *Decoder) frames(body []byte, p *Packet) (kind byte, err error) {
	last := byte(0)
	for len(body) > 0 {
		kind := body[0]
		switch {
		case len(body) < frameHead:
			return kind, ErrTruncated
		case kind < wireHello || kind >= wireEnd:
			return kind, ErrUnknownFrame
		case last == 0 && kind != wireHello:
			return kind, ErrNoHello
		case kind <= last:
			return kind, ErrFrameOrder
		}
		n := int(binary.BigEndian.Uint16(body[1:]))
		if n > len(body)-frameHead {
			return kind, ErrTruncated
		}
		d.r.begin(body[frameHead : frameHead+n])
		if kind == wireCast {
			p.Broadcast = &d.cast
		}
		if kind == wireCollated {
			p.Collated = &d.coll
		}
		d.r.frame(kind, p)
		if err := d.r.finish(); err != nil {
			return kind, err
		}
		if kind != wireHello {
			p.Frames |= frameBit(kind)
		}
		last, body = kind, body[frameHead+n:]
	}
	if last == 0 {
		return 0, ErrNoHello
	}
	return 0, nil
}
