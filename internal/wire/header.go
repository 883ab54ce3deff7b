package wire

import (
	"encoding/binary"
	"errors"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/timed"
)

// The clear header on the wire: fixed fields, big endian, without padding.
//
//	 0  magic "FA"    2  version     3  suite
//	 4  key id        8  group      16  source   17  destination
//	18  boot id      26  counter    34  stamp
//	42  echo: boot id   50  sent   58  received   66  latest   74  heard
//	82  body
//
// There is no length: a transport delivers whole packets, the seal notices any
// that was cut, and the frames of the body carry lengths of their own.
const (
	offVersion     = 2
	offSuite       = 3
	offKeyID       = 4
	offGroup       = 8
	offSource      = 16
	offDestination = 17
	offBoot        = 18
	offCounter     = 26
	offStamp       = 34
	offEchoBoot    = 42
	offSent        = 50
	offReceived    = 58
	offLatest      = 66
	offHeard       = 74

	// HeaderSize is the length of an encoded header in bytes.
	HeaderSize = 82
)

// Version is the version of the wire format that this package speaks.
const Version = 1

// MaxPacket is how many bytes of header and body one packet carries by
// default. With a seal, and the headers of UDP and IPv6, it still fits the
// 1,280 bytes that every IPv6 path carries without fragments.
const MaxPacket = 1200

const magic = 'F'<<8 | 'A'

// Suites: how the body is sealed.
const (
	SuiteNone              = 0 // not at all: loopback, or a network that is trusted
	SuiteXChaCha20Poly1305 = 1
	suiteEnd               = 2
)

// What can be wrong with a header. The errors are fixed values, because junk
// must cost nothing: compare with ==, or with errors.Is.
var (
	ErrShort       = errors.New("wire: shorter than a header")
	ErrMagic       = errors.New("wire: not a packet of this protocol")
	ErrVersion     = errors.New("wire: another version of the wire format")
	ErrSuite       = errors.New("wire: unknown suite")
	ErrKeyID       = errors.New("wire: a key id on an unsealed packet")
	ErrSource      = errors.New("wire: the source is no node")
	ErrDestination = errors.New("wire: the destination is no node")
	ErrLoop        = errors.New("wire: the source is the destination")
	ErrBoot        = errors.New("wire: no boot id")
	ErrStamp       = errors.New("wire: the send stamp is out of range")
	ErrEcho        = errors.New("wire: the echo is out of range")
)

// AppendHeader appends the encoded header to b. It checks nothing: [ParseHeader]
// does. It allocates only to grow b.
func AppendHeader(b []byte, h *datagram.Header) []byte {
	b = append(b, 'F', 'A', h.Version, h.Suite)
	b = binary.BigEndian.AppendUint32(b, h.KeyID)
	b = binary.BigEndian.AppendUint64(b, h.Group)
	b = append(b, byte(h.Source), byte(h.Destination))
	b = binary.BigEndian.AppendUint64(b, uint64(h.Boot))
	b = binary.BigEndian.AppendUint64(b, h.Counter)
	b = binary.BigEndian.AppendUint64(b, uint64(h.Stamp))
	b = binary.BigEndian.AppendUint64(b, uint64(h.Echo.Boot))
	b = binary.BigEndian.AppendUint64(b, uint64(h.Echo.Sent))
	b = binary.BigEndian.AppendUint64(b, uint64(h.Echo.Received))
	b = binary.BigEndian.AppendUint64(b, uint64(h.Echo.Latest))
	return binary.BigEndian.AppendUint64(b, uint64(h.Echo.Heard))
}

// PatchStamp writes the send stamp and the counter into an encoded packet: the
// sender does so as late as possible, because whatever passes between the stamp
// and the wire loosens the receiver's bound. A seal covers both, so it comes
// after. PatchStamp panics when b is shorter than a header.
func PatchStamp(b []byte, stamp timed.Instant, counter uint64) {
	_ = b[HeaderSize-1]
	binary.BigEndian.PutUint64(b[offCounter:], counter)
	binary.BigEndian.PutUint64(b[offStamp:], uint64(stamp))
}

// ParseHeader reads the header of a packet and returns what follows it. It is
// meant for hostile input: it allocates nothing, the tests that drop the most
// junk come first, and its errors are the fixed values of this package. Whether
// group, destination and source are this node's business is for the caller to
// check, before it opens the seal.
func ParseHeader(b []byte) (h datagram.Header, rest []byte, err error) {
	if len(b) < HeaderSize {
		return datagram.Header{}, nil, ErrShort
	}
	switch {
	case binary.BigEndian.Uint16(b) != magic:
		return datagram.Header{}, nil, ErrMagic
	case b[offVersion] != Version:
		return datagram.Header{}, nil, ErrVersion
	}
	h = datagram.Header{
		Version:     b[offVersion],
		Suite:       b[offSuite],
		KeyID:       binary.BigEndian.Uint32(b[offKeyID:]),
		Group:       binary.BigEndian.Uint64(b[offGroup:]),
		Source:      timed.NodeID(b[offSource]),
		Destination: timed.NodeID(b[offDestination]),
		Boot:        timed.BootID(binary.BigEndian.Uint64(b[offBoot:])),
		Counter:     binary.BigEndian.Uint64(b[offCounter:]),
		Stamp:       instantAt(b, offStamp),
		Echo: datagram.Echo{
			Boot:     timed.BootID(binary.BigEndian.Uint64(b[offEchoBoot:])),
			Sent:     instantAt(b, offSent),
			Received: instantAt(b, offReceived),
			Latest:   instantAt(b, offLatest),
			Heard:    instantAt(b, offHeard),
		},
	}
	if err := checkHeader(&h); err != nil {
		return datagram.Header{}, nil, err
	}
	return h, b[HeaderSize:], nil
}

func instantAt(b []byte, at int) timed.Instant {
	return timed.Instant(binary.BigEndian.Uint64(b[at:]))
}

// checkHeader reports what [ParseHeader] refuses in a header.
func checkHeader(h *datagram.Header) error {
	switch {
	case h.Version != Version:
		return ErrVersion
	case h.Suite >= suiteEnd:
		return ErrSuite
	case h.Suite == SuiteNone && h.KeyID != 0:
		return ErrKeyID
	case !h.Source.Valid():
		return ErrSource
	case !h.Destination.Valid():
		return ErrDestination
	case h.Source == h.Destination:
		return ErrLoop
	case h.Boot == 0:
		return ErrBoot
	case !stampValid(h.Stamp):
		return ErrStamp
	case !echoValid(&h.Echo):
		return ErrEcho
	}
	return nil
}

// stampValid reports whether t may be a reading of a hardware clock. Zero is
// none, because tables use it for "nothing yet".
func stampValid(t timed.Instant) bool { return 0 < t && t <= datagram.MaxStamp }

// echoValid reports whether an echo names an incarnation and carries its stamps,
// or is empty.
func echoValid(e *datagram.Echo) bool {
	if e.Boot == 0 {
		return *e == datagram.Echo{Heard: datagram.NotHeard}
	}
	return stampValid(e.Sent) && stampValid(e.Received) && stampValid(e.Latest) &&
		(e.Heard == datagram.NotHeard || stampValid(e.Heard))
}
