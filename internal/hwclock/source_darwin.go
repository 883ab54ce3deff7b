package hwclock

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// darwinSource: UPTIME_RAW is not slewed and stops asleep; MONOTONIC_RAW is not
// slewed and counts sleep.
type darwinSource struct{}

func systemSource() (source, error) {
	for _, id := range []int32{unix.CLOCK_UPTIME_RAW, unix.CLOCK_MONOTONIC_RAW} {
		var ts unix.Timespec
		if err := unix.ClockGettime(id, &ts); err != nil {
			return nil, fmt.Errorf("clock %d of the system cannot be read: %w", id, err)
		}
	}
	return darwinSource{}, nil
}

func (darwinSource) raw() int64       { return clockGettime(unix.CLOCK_UPTIME_RAW) }
func (darwinSource) monotonic() int64 { return clockGettime(unix.CLOCK_UPTIME_RAW) }
func (darwinSource) boottime() int64  { return clockGettime(unix.CLOCK_MONOTONIC_RAW) }

func clockGettime(id int32) int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(id, &ts); err != nil {
		panic(fmt.Sprintf("hwclock: clock %d became unreadable: %v", id, err))
	}
	return ts.Nano()
}
