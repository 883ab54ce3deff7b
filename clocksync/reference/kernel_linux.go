package reference

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/timed"
)

// kernel is the clock of this machine's kernel.
type kernel struct {
	clock *hwclock.Clock
	rho   timed.Drift
	id    clocksync.SourceID
	read  func(*unix.Timex) (int, error)
}

func newKernel(clock *hwclock.Clock, rho timed.Drift) source {
	return &kernel{clock, rho, identify("kernel", machine()), unix.Adjtimex}
}

func (k *kernel) poll(context.Context) (Sample, error) {
	var t unix.Timex
	before := k.clock.Read()
	state, err := k.read(&t)
	after := k.clock.Read()
	switch {
	case err != nil:
		return Sample{}, fmt.Errorf("cannot read the kernel's clock: %w", err)
	case state == unix.TIME_ERROR || t.Status&unix.STA_UNSYNC != 0:
		return Sample{}, &RejectedError{"no program disciplines the kernel's clock"}
	case state == unix.TIME_OOP || state == unix.TIME_WAIT:
		return Sample{}, &RejectedError{"a leap second is in progress"}
	case t.Maxerror < 0:
		return Sample{}, &RejectedError{"negative maximum error"}
	}
	unit := time.Microsecond
	if t.Status&unix.STA_NANO != 0 {
		unit = time.Nanosecond
	}
	now := clocksync.Time(t.Time.Sec)*clocksync.Time(time.Second) + clocksync.Time(t.Time.Usec)*clocksync.Time(unit)
	distance := time.Duration(t.Maxerror)*time.Microsecond + unit
	out := Sample{Delay: after.Now.Sub(before.Now), Distance: distance, Address: "kernel"}
	out.Sample = clocksync.FromExchange(k.id, before.Now, after.Now, now, now, distance, k.rho)
	switch state {
	case unix.TIME_INS:
		out.Leap = clocksync.LeapInsert
	case unix.TIME_DEL:
		out.Leap = clocksync.LeapDelete
	}
	return out.checked()
}
