//go:build !linux

package hwclock

import (
	"errors"
	"fmt"
)

// Discipline asks the kernel how its clock is being corrected, on Linux. On this
// system it fails with [errors.ErrUnsupported].
func Discipline() (Status, error) {
	return Status{}, fmt.Errorf("hwclock: the clock's discipline: %w", errors.ErrUnsupported)
}
