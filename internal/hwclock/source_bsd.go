//go:build dragonfly || freebsd || openbsd || solaris

package hwclock

import "golang.org/x/sys/unix"

// monotonicSource is CLOCK_MONOTONIC in all three places: D is always zero. Unlike Go's clock,
// whose origin is the start of a process, it is the same in all processes.
type monotonicSource struct{}

func systemSource() (source, error) {
	if err := checkClocks(unix.CLOCK_MONOTONIC); err != nil {
		return nil, err
	}
	return monotonicSource{}, nil
}

func (monotonicSource) raw() int64       { return clockGettime(unix.CLOCK_MONOTONIC) }
func (monotonicSource) monotonic() int64 { return 0 }
func (monotonicSource) boottime() int64  { return 0 }
