package reference

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/timed"
)

// A clock of a network card that shows TAI is ahead of UTC by the offset.
func TestTheOffsetOfAHardwareClockIsSubtracted(t *testing.T) {
	p := &phc{cfg: Config{PHC: "/dev/ptp0", Offset: 37 * time.Second, Error: time.Microsecond}, id: 1}
	at := timed.Instant(time.Hour)
	s, err := p.sample(unix.PtpClockTime{Sec: 1_000_000_037, Nsec: 5}, hwclock.Reading{Now: at}, hwclock.Reading{Now: at.Add(time.Microsecond)})
	require.NoError(t, err)
	utc := clocksync.Time(1_000_000_000*int64(time.Second) + 5)
	require.True(t, s.Low <= utc && utc <= s.High)
	require.Less(t, s.High.Sub(s.Low), 10*time.Microsecond)
}
