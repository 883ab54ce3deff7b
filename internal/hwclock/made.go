package hwclock

// Of returns a clock that shows the nanoseconds of raw and never sleeps: the hardware
// of a world in memory. raw must not run backwards, must not allocate, and is called by
// many goroutines at once.
func Of(raw func() int64) *Clock { return newClock(made(raw)) }

// made is the source of a clock made by Of.
type made func() int64

func (f made) raw() int64     { return f() }
func (made) monotonic() int64 { return 0 }
func (made) boottime() int64  { return 0 }
