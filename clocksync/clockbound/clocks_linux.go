package clockbound

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// systemClocks are those of the kernel.
type systemClocks struct{}

func (systemClocks) realtime() int64 { return read(unix.CLOCK_REALTIME) }
func (systemClocks) coarse() int64   { return read(unix.CLOCK_MONOTONIC_COARSE) }

func read(id int32) int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(id, &ts); err != nil {
		// Both exist on every Linux, and no time would be safe to return.
		panic(fmt.Sprintf("clockbound: clock %d is unreadable: %v", id, err))
	}
	return ts.Nano()
}

// resolution returns how long the coarse clock stands still.
func resolution() (int64, error) {
	var ts unix.Timespec
	if err := unix.ClockGetres(unix.CLOCK_MONOTONIC_COARSE, &ts); err != nil {
		return 0, fmt.Errorf("clockbound: the resolution of CLOCK_MONOTONIC_COARSE: %w", err)
	}
	return ts.Nano(), nil
}
