//go:build darwin || dragonfly || freebsd || linux || openbsd || solaris

package hwclock

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// checkClocks returns an error if a clock of the system cannot be read.
func checkClocks(ids ...int32) error {
	for _, id := range ids {
		var ts unix.Timespec
		if err := unix.ClockGettime(id, &ts); err != nil {
			return fmt.Errorf("clock %d of the system cannot be read: %w", id, err)
		}
	}
	return nil
}

func clockGettime(id int32) int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(id, &ts); err != nil {
		panic(fmt.Sprintf("hwclock: clock %d became unreadable: %v", id, err))
	}
	return ts.Nano()
}
