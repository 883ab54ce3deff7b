package clockbound

import (
	"encoding/binary"
	"sync/atomic"
	"unsafe"
)

// Offsets of the fields, in bytes. Numbers are in native byte order.
const (
	offMagic    = 0  // two numbers of 32 bits
	offSize     = 8  // 32 bits
	offVersion  = 12 // 16 bits, followed by 16 bits of generation
	offAsOf     = 16 // seconds and nanoseconds, 64 bits each
	offVoid     = 32
	offBound    = 48 // 64 bits
	offMarker   = 56 // 64 bits
	offMaxDrift = 64 // 32 bits
	offStatus   = 68 // 32 bits
	segmentSize = 80

	magic0        = 0x414D5A4E
	magic1        = 0x43420200
	layoutVersion = 2
)

// segment is the mapped memory. Every number is read and written atomically, so
// that readers in other processes detect a torn record by the generation alone.
type segment [segmentSize]byte

func (s *segment) u32(off uintptr) *uint32 { return (*uint32)(unsafe.Pointer(&s[off])) }
func (s *segment) u64(off uintptr) *uint64 { return (*uint64)(unsafe.Pointer(&s[off])) }

// header returns version and generation. It loads both as one 32-bit number,
// because sync/atomic has no smaller ones.
func (s *segment) header() (version, generation uint16) {
	var b [4]byte
	binary.NativeEndian.PutUint32(b[:], atomic.LoadUint32(s.u32(offVersion)))
	return binary.NativeEndian.Uint16(b[:2]), binary.NativeEndian.Uint16(b[2:])
}

func (s *segment) setHeader(version, generation uint16) {
	var b [4]byte
	binary.NativeEndian.PutUint16(b[:2], version)
	binary.NativeEndian.PutUint16(b[2:], generation)
	atomic.StoreUint32(s.u32(offVersion), binary.NativeEndian.Uint32(b[:]))
}

// ours reports whether the segment has the magic number and size of this layout.
func (s *segment) ours() bool {
	return atomic.LoadUint32(s.u32(offMagic)) == magic0 && atomic.LoadUint32(s.u32(offMagic+4)) == magic1 &&
		atomic.LoadUint32(s.u32(offSize)) == segmentSize
}

// put stores the record. It does not change the generation.
func (s *segment) put(r *record) {
	s.putTime(offAsOf, r.asOf)
	s.putTime(offVoid, r.voidAfter)
	atomic.StoreUint64(s.u64(offBound), uint64(r.bound))
	atomic.StoreUint64(s.u64(offMarker), r.marker)
	atomic.StoreUint32(s.u32(offMaxDrift), r.maxDrift)
	atomic.StoreUint32(s.u32(offStatus), uint32(r.status))
	// Hypervisor support for disruption markers is off, and the padding is zero.
	atomic.StoreUint64(s.u64(offStatus+4), 0)
}

// get loads the record. It does not check the generation.
func (s *segment) get(r *record) {
	r.asOf, r.voidAfter = s.time(offAsOf), s.time(offVoid)
	r.bound = int64(atomic.LoadUint64(s.u64(offBound)))
	r.marker = atomic.LoadUint64(s.u64(offMarker))
	r.maxDrift = atomic.LoadUint32(s.u32(offMaxDrift))
	r.status = Status(atomic.LoadUint32(s.u32(offStatus)))
}

const second = 1_000_000_000

func (s *segment) putTime(off uintptr, ns int64) {
	atomic.StoreUint64(s.u64(off), uint64(ns/second))
	atomic.StoreUint64(s.u64(off+8), uint64(ns%second))
}

func (s *segment) time(off uintptr) int64 {
	return int64(atomic.LoadUint64(s.u64(off)))*second + int64(atomic.LoadUint64(s.u64(off+8)))
}
