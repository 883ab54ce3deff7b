package wire

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/failaware/failaware/timed"
)

// The body of an unsealed packet begins with a checksum of the rest of the packet,
// header and frames: CRC-32C, big endian, as in iSCSI (RFC 3720). UDP's own checksum has
// 16 bits and lets about one in 65,536 damaged packets through; IPv4 senders may
// leave it out. Processors compute CRC-32C at several bytes a cycle, and it detects every
// burst of up to 32 bits. A sealed packet needs none, because the seal's tag covers more.
const checksumSize = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum returns the checksum of an unsealed packet, whose end is tail.
func checksum(b, tail []byte) uint32 {
	sum := crc32.Checksum(b[:HeaderSize], castagnoli)
	sum = crc32.Update(sum, castagnoli, b[HeaderSize+checksumSize:])
	return crc32.Update(sum, castagnoli, tail)
}

// Finish writes the send stamp, the counter and, into an unsealed packet, the checksum.
// The packet consists of b and tail, as [Encoder.AppendBefore] describes. The sender
// calls Finish as late as possible, because the time between the stamp and the wire
// loosens the receiver's bound. Finish panics if b is shorter than an encoded packet
// without frames.
func Finish(b, tail []byte, stamp timed.Instant, counter uint64) {
	finish(b, stamp, counter)
	if b[offSuite] == SuiteNone {
		putChecksum(b, tail)
	}
}

// FinishSealed is [Finish] for a packet that is sealed next, with the key of an id: the
// seal covers the header. It returns the boot id in the header.
func FinishSealed(b []byte, stamp timed.Instant, counter uint64, key uint32) timed.BootID {
	finish(b, stamp, counter)
	binary.BigEndian.PutUint32(b[offKeyID:], key)
	return timed.BootID(binary.BigEndian.Uint64(b[offBoot:]))
}

func finish(b []byte, stamp timed.Instant, counter uint64) {
	_ = b[HeaderSize-1]
	binary.BigEndian.PutUint64(b[offCounter:], counter)
	binary.BigEndian.PutUint64(b[offStamp:], uint64(stamp))
}

// putChecksum writes the checksum of an unsealed packet.
func putChecksum(b, tail []byte) {
	binary.BigEndian.PutUint32(b[HeaderSize:HeaderSize+checksumSize], checksum(b, tail))
}

// Unsealed returns the frames of an unsealed packet whose header [ParseHeader] has
// accepted. The error is [ErrShort] or [ErrChecksum].
func Unsealed(b []byte) (frames []byte, err error) {
	if len(b) < HeaderSize+checksumSize {
		return nil, ErrShort
	}
	if binary.BigEndian.Uint32(b[HeaderSize:]) != checksum(b, nil) {
		return nil, ErrChecksum
	}
	return b[HeaderSize+checksumSize:], nil
}
