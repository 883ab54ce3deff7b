package bench

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// ofProcess measures processor time, the same as in /proc/self/stat but in microseconds
// instead of hundredths of a second, and resident memory.
func (u *usage) ofProcess() error {
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
		return os.NewSyscallError("getrusage", err)
	}
	u.System = time.Duration(r.Stime.Nano())
	u.CPU = u.System + time.Duration(r.Utime.Nano())
	u.Switches = uint64(r.Nvcsw)
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			var kib int64
			if _, err := fmt.Sscan(rest, &kib); err != nil {
				return err
			}
			u.Resident = kib << 10
		}
	}
	return nil
}
