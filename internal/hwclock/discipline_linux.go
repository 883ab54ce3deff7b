package hwclock

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Discipline asks the kernel for the present correction of its clock. It changes
// nothing, needs no privilege, and costs one system call; once a minute is enough. It
// fails where the system call is forbidden, and with [errors.ErrUnsupported] on systems
// other than Linux.
func Discipline() (Status, error) {
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	if err != nil {
		return Status{}, fmt.Errorf("hwclock: cannot read the clock's discipline: %w", err)
	}
	return Status{
		Synchronized: state != unix.TIME_ERROR && t.Status&unix.STA_UNSYNC == 0,
		RateError:    rateError(int64(t.Freq), int64(t.Tick)),
	}, nil
}
