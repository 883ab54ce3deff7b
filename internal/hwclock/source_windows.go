package hwclock

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Interrupt time counts units of 100 ns since boot and is not adjusted when the
// wall clock is; the unbiased kind leaves time asleep out.
var (
	kernelbase = windows.NewLazySystemDLL("kernelbase.dll")
	unbiased   = kernelbase.NewProc("QueryUnbiasedInterruptTimePrecise")
	biased     = kernelbase.NewProc("QueryInterruptTimePrecise")
)

type windowsSource struct{}

func systemSource() (source, error) {
	for _, proc := range []*windows.LazyProc{unbiased, biased} {
		if err := proc.Find(); err != nil {
			return nil, fmt.Errorf("interrupt time cannot be read: %w", err)
		}
	}
	return windowsSource{}, nil
}

func (windowsSource) raw() int64       { return query(unbiased) }
func (windowsSource) monotonic() int64 { return query(unbiased) }
func (windowsSource) boottime() int64  { return query(biased) }

func query(proc *windows.LazyProc) int64 {
	var units uint64
	_, _, _ = proc.Call(uintptr(unsafe.Pointer(&units))) // returns nothing
	return int64(units) * 100
}
