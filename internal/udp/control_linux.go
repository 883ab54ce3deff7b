package udp

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"
)

// controlInfo is the kernel's information about a message besides its bytes.
type controlInfo struct {
	stamp    int64 // when it was received, in nanoseconds of CLOCK_REALTIME
	stamped  bool
	drops    uint32 // messages lost to a full receive buffer so far
	hasDrops bool
	segment  int // the size of each of several packets; zero: it is one packet
}

const sizeofTimespec = int(unsafe.Sizeof(unix.Timespec{}))

// parseControl reads control messages. It trusts nothing about the bytes: it skips
// unknown messages and ignores truncated ones.
func parseControl(b []byte) (info controlInfo) {
	var h unix.Cmsghdr
	for len(b) >= unix.SizeofCmsghdr {
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&h)), unix.SizeofCmsghdr), b)
		if uint64(h.Len) < uint64(unix.CmsgLen(0)) || uint64(h.Len) > uint64(len(b)) {
			break
		}
		data := b[unix.CmsgLen(0):h.Len]
		switch {
		case h.Level == unix.SOL_SOCKET && h.Type == unix.SO_TIMESTAMPNS && len(data) >= sizeofTimespec:
			var ts unix.Timespec
			copy(unsafe.Slice((*byte)(unsafe.Pointer(&ts)), sizeofTimespec), data)
			info.stamp, info.stamped = ts.Nano(), true
		case h.Level == unix.SOL_SOCKET && h.Type == unix.SO_RXQ_OVFL && len(data) >= 4:
			info.drops, info.hasDrops = binary.NativeEndian.Uint32(data), true
		case h.Level == unix.SOL_UDP && h.Type == unix.UDP_GRO && len(data) >= 4:
			info.segment = max(int(int32(binary.NativeEndian.Uint32(data))), 0)
		}
		b = b[min(unix.CmsgSpace(len(data)), len(b)):]
	}
	return info
}
