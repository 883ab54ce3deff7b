package hwclock

import (
	"bytes"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// vdso reads the kernel's clocks by calling clock_gettime in the vDSO, the object that
// the kernel maps into every process. Only amd64 has this. There the Go runtime finds
// its own state in thread-local storage when a signal arrives during such a call. On
// other processors it may look for it in a register that the kernel's code uses
// otherwise.
type vdso struct{ clockGettime uintptr }

func (v vdso) raw() int64       { return v.read(unix.CLOCK_MONOTONIC_RAW) }
func (v vdso) monotonic() int64 { return v.read(unix.CLOCK_MONOTONIC) }
func (v vdso) boottime() int64  { return v.read(unix.CLOCK_BOOTTIME) }

func (v vdso) read(id int32) int64 {
	var ts unix.Timespec
	if errno := callClockGettime(v.clockGettime, id, &ts); errno != 0 {
		panic(fmt.Sprintf("hwclock: clock %d became unreadable: %v", id, unix.Errno(-errno)))
	}
	return ts.Nano()
}

// three reads RAW, MONOTONIC and BOOTTIME, in this order.
func (v vdso) three() (raw, monotonic, boottime int64) {
	var ts [3]unix.Timespec
	if errno := callThree(v.clockGettime, &ts); errno != 0 {
		panic(fmt.Sprintf("hwclock: a clock became unreadable: %v", unix.Errno(-errno)))
	}
	return ts[0].Nano(), ts[1].Nano(), ts[2].Nano()
}

// callThree calls fn for the clocks that three reads, and returns its first result that is
// not zero.
//
//go:noescape
func callThree(fn uintptr, ts *[3]unix.Timespec) int32

// callClockGettime calls fn(id, ts) by the C calling convention and returns its
// result: zero or a negative error number.
//
//go:noescape
func callClockGettime(fn uintptr, id int32, ts *unix.Timespec) int32

// vdsoSource finds the vDSO's clock_gettime and compares its results with the system
// calls; ok is false if anything is unexpected.
func vdsoSource() (s source, ok bool) {
	fn, ok := findClockGettime()
	if !ok {
		return nil, false
	}
	for _, id := range []int32{unix.CLOCK_MONOTONIC_RAW, unix.CLOCK_MONOTONIC, unix.CLOCK_BOOTTIME} {
		var before, now, after unix.Timespec
		if unix.ClockGettime(id, &before) != nil ||
			callClockGettime(fn, id, &now) != 0 ||
			unix.ClockGettime(id, &after) != nil ||
			now.Nano() < before.Nano() || now.Nano() > after.Nano() {
			return nil, false
		}
	}
	return vdso{fn}, true
}

func findClockGettime() (fn uintptr, ok bool) {
	const sysinfoEhdr = 33 // AT_SYSINFO_EHDR: where the vDSO begins
	aux, err := unix.Auxv()
	if err != nil {
		return 0, false
	}
	var base uintptr
	for _, entry := range aux {
		if entry[0] == sysinfoEhdr {
			base = entry[1]
		}
	}
	if base == 0 {
		return 0, false
	}
	offset, ok := vdsoImage(base).function("__vdso_clock_gettime")
	return base + uintptr(offset), ok
}

// vdsoImage returns the memory of the vDSO. The table of section headers is its last
// part, so the ELF header determines its length.
func vdsoImage(base uintptr) image {
	// The address is the kernel's, outside of everything that Go's collector
	// manages, so it may be turned into a pointer.
	start := *(**byte)(unsafe.Pointer(&base))
	header := image(unsafe.Slice(start, headerBytes))
	if !bytes.HasPrefix(header, []byte(elfMagic)) {
		return nil
	}
	length := header.word(sectionsAt) + header.short(sectionSizeAt)*header.short(sectionCountAt)
	const sane = 1 << 16
	if length > sane {
		return nil
	}
	return unsafe.Slice(start, length)
}
