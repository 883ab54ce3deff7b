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

// ask opens the device each time, since network cards come and go.
func (p *phc) ask(context.Context) (Sample, error) {
	f, err := os.Open(p.cfg.PHC)
	if err != nil {
		return Sample{}, err
	}
	defer f.Close()
	before := p.clock.Read()
	r, err := unix.IoctlPtpSysOffsetExtended(int(f.Fd()), 1)
	after := p.clock.Read()
	switch {
	case err != nil:
		return Sample{}, fmt.Errorf("%s: the clock cannot be read: %w", p.cfg.PHC, err)
	case before.Epoch != after.Epoch:
		return Sample{}, errSlept
	}
	device := r.Ts[0][1] // between two readings of the system's clock
	now := clocksync.Time(device.Sec)*1e9 + clocksync.Time(device.Nsec) - clocksync.Time(p.cfg.Offset)
	distance := cmp.Or(p.cfg.Error, DefaultPHCError)
	out := Sample{Epoch: after.Epoch, Delay: after.Now.Sub(before.Now), Distance: distance, Address: p.cfg.PHC}
	out.Sample = clocksync.FromExchange(p.id, before.Now, after.Now, now, now, distance, p.rho)
	if !out.Valid() {
		return out, &RejectedError{"its error is larger than " + clocksync.MaxError.String()}
	}
	return out, nil
}
