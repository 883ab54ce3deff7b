package hwclock

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// systemSource prefers the kernel's code in user space, which makes a reading
// ten times cheaper than system calls do.
func systemSource() (source, error) {
	for _, id := range []int32{unix.CLOCK_MONOTONIC_RAW, unix.CLOCK_MONOTONIC, unix.CLOCK_BOOTTIME} {
		var ts unix.Timespec
		if err := unix.ClockGettime(id, &ts); err != nil {
			return nil, fmt.Errorf("clock %d of the kernel cannot be read: %w", id, err)
		}
	}
	if s, ok := vdsoSource(); ok {
		return s, nil
	}
	return syscallSource{}, nil
}

// syscallSource reads the kernel's clocks by system calls.
type syscallSource struct{}

func (syscallSource) raw() int64       { return clockGettime(unix.CLOCK_MONOTONIC_RAW) }
func (syscallSource) monotonic() int64 { return clockGettime(unix.CLOCK_MONOTONIC) }
func (syscallSource) boottime() int64  { return clockGettime(unix.CLOCK_BOOTTIME) }

func clockGettime(id int32) int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(id, &ts); err != nil {
		panic(fmt.Sprintf("hwclock: clock %d became unreadable: %v", id, err))
	}
	return ts.Nano()
}
