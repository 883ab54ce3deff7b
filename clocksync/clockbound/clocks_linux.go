package clockbound

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// systemClocks reads the clocks of the kernel.
type systemClocks struct{}

func (systemClocks) realtime() int64 { return read(unix.CLOCK_REALTIME) }
func (systemClocks) coarse() int64   { return read(unix.CLOCK_MONOTONIC_COARSE) }

func read(id int32) int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(id, &ts); err != nil {
		// Every Linux has both clocks, and no return value would be safe.
		panic(fmt.Sprintf("clockbound: cannot read clock %d: %v", id, err))
	}
	return ts.Nano()
}

// resolution returns the time between two ticks of the coarse clock.
func resolution() (int64, error) {
	var ts unix.Timespec
	if err := unix.ClockGetres(unix.CLOCK_MONOTONIC_COARSE, &ts); err != nil {
		return 0, fmt.Errorf("clockbound: cannot read the resolution of CLOCK_MONOTONIC_COARSE: %w", err)
	}
	return ts.Nano(), nil
}
