package hwclock

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/failaware/failaware/timed"
)

// clockSource is the file with the name of what the kernel's clocks count.
const clockSource = "/sys/devices/system/clocksource/clocksource0/current_clocksource"

// systemSource prefers the kernel's code in user space, which makes a reading
// ten times cheaper than system calls do.
func systemSource() (source, error) {
	if err := checkClocks(unix.CLOCK_MONOTONIC_RAW, unix.CLOCK_MONOTONIC, unix.CLOCK_BOOTTIME); err != nil {
		return nil, err
	}
	if err := checkSource(clockSource); err != nil {
		return nil, err
	}
	if s, ok := vdsoSource(); ok {
		return s, nil
	}
	return syscallSource{}, nil
}

// checkSource refuses the only source of Linux with steps above [timed.Granule]: the ticks of
// its scheduler. Where the name cannot be read, nothing is refused.
func checkSource(file string) error {
	b, _ := os.ReadFile(file)
	if name := strings.TrimSpace(string(b)); strings.HasSuffix(name, "jiffies") {
		return fmt.Errorf("the kernel's clocks count %s, which are longer than %v; choose another clock source (%s)", name, timed.Granule, file)
	}
	return nil
}

// syscallSource reads the kernel's clocks by system calls.
type syscallSource struct{}

func (syscallSource) raw() int64       { return clockGettime(unix.CLOCK_MONOTONIC_RAW) }
func (syscallSource) monotonic() int64 { return clockGettime(unix.CLOCK_MONOTONIC) }
func (syscallSource) boottime() int64  { return clockGettime(unix.CLOCK_BOOTTIME) }
