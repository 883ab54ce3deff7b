package reference

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/timed"
)

// phc is a PTP hardware clock.
type phc struct {
	cfg   Config
	clock *hwclock.Clock
	rho   timed.Drift
	id    clocksync.SourceID
}

func newPHC(c Config, clock *hwclock.Clock, rho timed.Drift) source {
	return &phc{c, clock, rho, identify("phc", c.PHC+" of "+machine())}
}

// poll opens the device each time, because network cards may be replaced.
func (p *phc) poll(context.Context) (Sample, error) {
	f, err := os.Open(p.cfg.PHC)
	if err != nil {
		return Sample{}, err
	}
	defer f.Close()
	before := p.clock.Read()
	r, err := unix.IoctlPtpSysOffsetExtended(int(f.Fd()), 1)
	after := p.clock.Read()
	if err != nil {
		return Sample{}, fmt.Errorf("%s: cannot read the clock: %w", p.cfg.PHC, err)
	}
	return p.sample(r.Ts[0][1], before, after) // Ts[0] is system time, device time, system time
}

// sample returns the sample of a reading of the device between two of the hardware clock.
func (p *phc) sample(device unix.PtpClockTime, before, after hwclock.Reading) (Sample, error) {
	now := clocksync.Time(device.Sec)*1e9 + clocksync.Time(device.Nsec) - clocksync.Time(p.cfg.Offset)
	distance := cmp.Or(p.cfg.Error, DefaultPHCError)
	out := Sample{Delay: after.Now.Sub(before.Now), Distance: distance, Address: p.cfg.PHC}
	out.Sample = clocksync.FromExchange(p.id, before.Now, after.Now, now, now, distance, p.rho)
	return out.checked()
}
