package hwclock

import "golang.org/x/sys/unix"

// darwinSource: UPTIME_RAW is not slewed and stops asleep; MONOTONIC_RAW is not
// slewed and counts sleep.
type darwinSource struct{}

func systemSource() (source, error) {
	if err := checkClocks(unix.CLOCK_UPTIME_RAW, unix.CLOCK_MONOTONIC_RAW); err != nil {
		return nil, err
	}
	return darwinSource{}, nil
}

func (darwinSource) raw() int64       { return clockGettime(unix.CLOCK_UPTIME_RAW) }
func (darwinSource) monotonic() int64 { return clockGettime(unix.CLOCK_UPTIME_RAW) }
func (darwinSource) boottime() int64  { return clockGettime(unix.CLOCK_MONOTONIC_RAW) }
