package reference

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/timed"
)

// set sets a field of Timex, whose size differs between architectures.
func set[T int32 | int64](field *T, v int64) { *field = T(v) }

// disciplined returns a fake kernel clock in the given state.
func disciplined(state int, status, maxerror int64) func(*unix.Timex) (int, error) {
	return func(t *unix.Timex) (int, error) {
		now := time.Now()
		set(&t.Time.Sec, now.Unix())
		set(&t.Time.Usec, int64(now.Nanosecond()/1000))
		if status&unix.STA_NANO != 0 {
			set(&t.Time.Usec, int64(now.Nanosecond()))
		}
		t.Status = int32(status)
		set(&t.Maxerror, maxerror)
		return state, nil
	}
}

func TestKernelClock(t *testing.T) {
	k := newKernel(hardware(t), timed.LAN().MaxDrift).(*kernel)
	for status, unit := range map[int64]time.Duration{0: time.Microsecond, unix.STA_NANO: time.Nanosecond} {
		k.read = disciplined(unix.TIME_DEL, status, 250)
		x, err := k.poll(t.Context())
		require.NoError(t, err)
		now := time.Now().UnixNano() - int64(k.clock.Now()-x.At)
		require.LessOrEqual(t, int64(x.Low), now+int64(time.Millisecond))
		require.GreaterOrEqual(t, int64(x.High), now-int64(time.Millisecond))
		require.Equal(t, 250*time.Microsecond+unit, x.Distance, "the kernel rounds its clock down")
		require.GreaterOrEqual(t, x.High.Sub(x.Low), 2*x.Distance)
		require.Equal(t, clocksync.LeapDelete, x.Leap)
	}
	for name, read := range map[string]func(*unix.Timex) (int, error){
		"unsynchronized":    disciplined(unix.TIME_OK, unix.STA_UNSYNC, 250),
		"error":             disciplined(unix.TIME_ERROR, 0, 250),
		"leap second":       disciplined(unix.TIME_OOP, 0, 250),
		"after leap second": disciplined(unix.TIME_WAIT, 0, 250),
		"large error":       disciplined(unix.TIME_OK, 0, 17_000_000),
		"negative error":    disciplined(unix.TIME_OK, 0, -1),
	} {
		k.read = read
		_, err := k.poll(t.Context())
		require.True(t, isRejected(err), name)
	}
	k.read = func(*unix.Timex) (int, error) { return 0, unix.EPERM }
	_, err := k.poll(t.Context())
	require.ErrorIs(t, err, unix.EPERM)
}

// The kernel of this machine gives a sample without privileges, unless its clock is
// not disciplined.
func TestKernelOfThisMachine(t *testing.T) {
	k := newKernel(hardware(t), timed.LAN().MaxDrift).(*kernel)
	before := time.Now().UnixNano()
	x, err := k.poll(t.Context())
	after := time.Now().UnixNano()
	if err != nil {
		require.True(t, isRejected(err), "%v", err)
		t.Log(err)
		return
	}
	require.LessOrEqual(t, int64(x.Low), after)
	require.GreaterOrEqual(t, int64(x.High), before)
	t.Logf("within %v", x.High.Sub(x.Low)/2)
}

func TestPHC(t *testing.T) {
	devices, _ := filepath.Glob("/dev/ptp*")
	if len(devices) == 0 {
		t.Skip("this machine has no PTP hardware clock")
	}
	p := newPHC(Config{PHC: devices[0]}, hardware(t), timed.LAN().MaxDrift)
	x, err := p.poll(t.Context())
	if os.IsPermission(err) {
		t.Skip(err)
	}
	require.NoError(t, err)
	require.GreaterOrEqual(t, x.High.Sub(x.Low), 2*DefaultPHCError)
}

func TestMissingPHC(t *testing.T) {
	p := newPHC(Config{PHC: "/dev/null"}, hardware(t), timed.LAN().MaxDrift)
	_, err := p.poll(t.Context())
	require.ErrorContains(t, err, "/dev/null")
	p = newPHC(Config{PHC: filepath.Join(t.TempDir(), "ptp0")}, hardware(t), timed.LAN().MaxDrift)
	_, err = p.poll(t.Context())
	require.ErrorIs(t, err, os.ErrNotExist)
}
