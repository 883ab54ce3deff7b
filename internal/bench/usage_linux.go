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
	var err error
	u.Resident, err = memoryOf("VmRSS:")
	return err
}

// memoryOf returns a line of /proc/self/status in bytes.
func memoryOf(name string) (bytes int64, err error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), name)
	_, err = fmt.Sscan(rest, &bytes)
	return bytes << 10, err
}

// peakMemory returns the largest resident memory since the last call, in bytes.
func peakMemory() (int64, error) {
	peak, err := memoryOf("VmHWM:")
	if err != nil {
		return 0, err
	}
	return peak, os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}
