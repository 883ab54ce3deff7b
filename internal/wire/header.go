package wire

import (
	"encoding/binary"
	"errors"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/timed"
)

// Layout of the clear header: fixed fields, big endian, without padding.
//
//	 0  magic "FA"    2  version     3  suite, and the bits quiet and patient
//	 4  key id        8  group      16  source   17  destination
//	18  boot id      26  counter, whose highest byte is the newest version of the sender
//	34  stamp
//	42  echo: boot id   50  sent   58  received   66  latest   74  heard
//	82  body: checksum and frames, or salt, sealed frames and tag (package seal)
//
// There is no length. A transport delivers whole packets, the checksum or the seal
// detects a truncated one, and the frames carry their own lengths.
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

	// HeaderSize is the size of an encoded header in bytes.
	HeaderSize = 82
)

// Version is the newest version of the wire format that this package speaks, and Oldest
// the oldest one. Version 1 had no checksum. In version 2 the reports of a view change did
// not say what their senders had sent, decisions cut no stamps, and the checksum was
// CRC-32C. In version 3 no packet was quiet or patient. In version 4 a leader
// did not vouch for the members of its view. In version 5 nodes did not say their
// KeepalivePeriod, refusals not when the other incarnation was heard, and leaders not how many
// references had proved UTC. All else is as in version 6.
const (
	Version = 6
	Oldest  = 3
)

// WithQuiet is the first version in which packets may be quiet or patient.
const WithQuiet = 4

// WithAnswered is the first version in which a request that renews a view says which request
// all members have answered, and in which a node counts on that word.
const WithAnswered = 5

// WithSettings is the first version in which every build answers the settings of a node of
// another group with its own.
const WithSettings = 5

// WithHeard is the first version in which a refusal says when the other incarnation was
// heard, WithPeriod the first one in which a packet says its sender's KeepalivePeriod, and
// WithProof the first one in which a leader says how many references have proved UTC.
const (
	WithHeard  = 6
	WithPeriod = 6
	WithProof  = 6
)

// newestAt is how many bits the counter of a packet has below the newest version of its
// sender. Builds that speak one version only count from 0, and read all of it as a number.
const newestAt = 56

// FirstCounter returns where the counter of a node begins that speaks versions up to newest.
func FirstCounter(newest uint8) uint64 { return uint64(newest) << newestAt }

// NewestOf returns the newest version that the sender of a packet speaks, as far as the
// packet tells.
func NewestOf(h *datagram.Header) uint8 { return max(h.Version, uint8(h.Counter>>newestAt)) }

// Claims returns the version and the key id in the header of a packet, even if this package
// does not speak the version. They are 0 if the packet is too short.
func Claims(b []byte) (version uint8, key uint32) {
	if len(b) < offGroup {
		return 0, 0
	}
	return b[offVersion], binary.BigEndian.Uint32(b[offKeyID:])
}

const magic = 'F'<<8 | 'A'

// Suites say how the body is sealed.
const (
	SuiteNone       = 0 // not sealed: loopback, or a trusted network
	SuiteXAES256GCM = 1 // by package seal
	SuiteSharing    = 2 // the same, with shared frames that are sealed apart
	suiteEnd        = 3
)

// Bits in the byte of the suite.
const (
	quietBit   = 0x80
	patientBit = 0x40
	suiteBits  = 0x3f
)

// QuietMark says where a packet shows that it is quiet: a bit of the byte at an offset.
func QuietMark() (offset int, bit byte) { return offSuite, quietBit }

// suiteOf returns how the body of an encoded packet is sealed.
func suiteOf(b []byte) uint8 { return b[offSuite] & suiteBits }

// suiteByte returns the suite and the bits beside it.
func suiteByte(h *datagram.Header) byte {
	b := h.Suite
	if h.Quiet {
		b |= quietBit
	}
	if h.Patient {
		b |= patientBit
	}
	return b
}

// Errors of [ParseHeader]. They are fixed values, because junk must cost nothing.
// Compare them with == or errors.Is.
var (
	ErrShort       = errors.New("wire: the packet is shorter than a header")
	ErrMagic       = errors.New("wire: not a packet of this protocol")
	ErrVersion     = errors.New("wire: unsupported version of the wire format")
	ErrSuite       = errors.New("wire: unknown suite")
	ErrKeyID       = errors.New("wire: an unsealed packet has a key id")
	ErrSource      = errors.New("wire: the source is not a node")
	ErrDestination = errors.New("wire: the destination is not a node")
	ErrLoop        = errors.New("wire: the source is the destination")
	ErrBoot        = errors.New("wire: the boot id is missing")
	ErrStamp       = errors.New("wire: the send stamp is out of range")
	ErrEcho        = errors.New("wire: the echo is out of range")
)

// ErrChecksum is an error of [Unsealed] and [Decoder.Decode].
var ErrChecksum = errors.New("wire: the checksum is wrong: the packet was damaged on its way")

// AppendHeader appends the encoded header to b. It checks nothing: [ParseHeader]
// does. It allocates only to grow b.
func AppendHeader(b []byte, h *datagram.Header) []byte {
	b = append(b, 'F', 'A', h.Version, suiteByte(h))
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

// ParseHeader reads the header of a packet and returns the bytes behind it. It is
// meant for hostile input: it allocates nothing, the checks that reject the most
// junk come first, and its errors are fixed values. The caller checks group,
// destination and source before it opens the seal.
func ParseHeader(b []byte) (h datagram.Header, rest []byte, err error) {
	if len(b) < HeaderSize {
		return datagram.Header{}, nil, ErrShort
	}
	switch {
	case binary.BigEndian.Uint16(b) != magic:
		return datagram.Header{}, nil, ErrMagic
	case !spoken(b[offVersion]):
		return datagram.Header{}, nil, ErrVersion
	}
	h = datagram.Header{
		Version:     b[offVersion],
		Suite:       suiteOf(b),
		Quiet:       b[offSuite]&quietBit != 0,
		Patient:     b[offSuite]&patientBit != 0,
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

// spoken reports whether this package speaks a version.
func spoken(version uint8) bool { return Oldest <= version && version <= Version }

func instantAt(b []byte, at int) timed.Instant {
	return timed.Instant(binary.BigEndian.Uint64(b[at:]))
}

// checkHeader returns an error if a field of the header is out of range.
func checkHeader(h *datagram.Header) error {
	switch {
	case !spoken(h.Version):
		return ErrVersion
	case h.Suite >= suiteEnd, (h.Quiet || h.Patient) && h.Version < WithQuiet:
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

// stampValid reports whether t can be a reading of a hardware clock. Zero is not,
// because tables use it for "nothing yet".
func stampValid(t timed.Instant) bool { return 0 < t && t <= datagram.MaxStamp }

// echoValid reports whether an echo names an incarnation and carries its stamps,
// or is empty.
func echoValid(e *datagram.Echo) bool {
	if e.Boot == 0 {
		return *e == datagram.Echo{Heard: datagram.NotHeard}
	}
	return stampValid(e.Sent) && stampValid(e.Received) && stampValid(e.Latest) &&
		(e.Heard == datagram.NotHeard || e.Heard == datagram.Distrusted || stampValid(e.Heard))
}
