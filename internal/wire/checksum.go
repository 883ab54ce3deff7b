package wire

import (
	"encoding/binary"

	"github.com/zeebo/xxh3"

	"github.com/failaware/failaware/timed"
)

// The body of an unsealed packet begins with a checksum of the rest of the packet, header
// and frames. UDP's own checksum has 16 bits and lets about one in 65,536 damaged packets
// through; IPv4 senders may leave it out. A sealed packet needs none, because the seal's
// tag covers more.
//
// The checksum is XXH3 with 64 bits. Every node reads each packet once more for it, so
// its speed counts: it takes a third of the time of CRC-32C, and lets one damaged packet
// in 2^64 through instead of one in 2^32.
//
//	0  sum of the sums of the header, of the frames before the tail with the length of
//	   the tail, and of the tail
//	8  length of the tail: the frame at the end that packets to several nodes share
//
// The tail has a sum of its own, so that a sender computes it once for all of them.
const (
	sumSize      = 8
	checksumSize = sumSize + 2
)

// TailSum returns the checksum of a tail, for [Finish].
func TailSum(tail []byte) uint64 { return xxh3.Hash(tail) }

// checksum returns the checksum of an unsealed packet that consists of b and a tail with
// the given sum.
func checksum(b []byte, tail uint64) uint64 {
	var sums [3 * sumSize]byte
	binary.BigEndian.PutUint64(sums[0:], xxh3.Hash(b[:HeaderSize]))
	binary.BigEndian.PutUint64(sums[8:], xxh3.Hash(b[HeaderSize+sumSize:]))
	binary.BigEndian.PutUint64(sums[16:], tail)
	return xxh3.Hash(sums[:])
}

// Finish writes the send stamp, the counter and, into an unsealed packet, the checksum.
// The packet consists of b and of a tail whose [TailSum] is given, as
// [Encoder.AppendBefore] describes. The sender calls Finish as late as possible, because
// the time between the stamp and the wire loosens the receiver's bound. Finish panics if
// b is shorter than an encoded packet without frames.
func Finish(b []byte, tail uint64, stamp timed.Instant, counter uint64) {
	finish(b, stamp, counter)
	if suiteOf(b) == SuiteNone {
		_ = b[HeaderSize+checksumSize-1]
		putChecksum(b, tail)
	}
}

// FinishWhole is [Finish] for a packet that has its tail within b, or none.
func FinishWhole(b []byte, stamp timed.Instant, counter uint64) {
	finish(b, stamp, counter)
	if suiteOf(b) == SuiteNone {
		putWholeChecksum(b)
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
func putChecksum(b []byte, tail uint64) {
	binary.BigEndian.PutUint64(b[HeaderSize:], checksum(b, tail))
}

// putWholeChecksum writes the checksum of an unsealed packet that has its tail within b.
func putWholeChecksum(b []byte) {
	before, tail, _ := splitTail(b)
	putChecksum(before, TailSum(tail))
}

// splitTail splits a whole unsealed packet before its tail. It reports whether the packet
// is as long as its tail says; if it is not, all of the packet is before the tail.
func splitTail(b []byte) (before, tail []byte, ok bool) {
	n := int(binary.BigEndian.Uint16(b[HeaderSize+sumSize:]))
	at := len(b) - n
	if at < HeaderSize+checksumSize {
		return b, nil, false
	}
	return b[:at], b[at:], true
}

// Unsealed returns the frames of an unsealed packet whose header [ParseHeader] has
// accepted. The error is [ErrShort] or [ErrChecksum].
func Unsealed(b []byte) (frames []byte, err error) {
	if len(b) < HeaderSize+checksumSize {
		return nil, ErrShort
	}
	before, tail, ok := splitTail(b)
	if !ok || binary.BigEndian.Uint64(b[HeaderSize:]) != checksum(before, TailSum(tail)) {
		return nil, ErrChecksum
	}
	return b[HeaderSize+checksumSize:], nil
}
