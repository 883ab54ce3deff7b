package hwclock

import (
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Leases leave room for clocks with steps of a microsecond.
func TestTicksAreTooCoarse(t *testing.T) { ticks(t) }

func ticks(t testing.TB) {
	file := filepath.Join(t.TempDir(), "current_clocksource")
	require.NoError(t, checkSource(file), "it cannot be read")
	for name, fine := range map[string]bool{"tsc": true, "kvm-clock": true, "acpi_pm": true, "jiffies": false, "refined-jiffies": false} {
		require.NoError(t, os.WriteFile(file, []byte(name+"\n"), 0o600))
		err := checkSource(file)
		require.Equal(t, fine, err == nil, name)
		if !fine {
			require.ErrorContains(t, err, name)
		}
	}
}

func TestSystemCallsAndTheVDSOAgree(t *testing.T) {
	fast, ok := vdsoSource()
	if !ok {
		t.Skip("the vDSO cannot be used here")
	}
	slow := syscallSource{}
	for range 1000 {
		a, b, c := slow.raw(), fast.raw(), slow.raw()
		require.True(t, a <= b && b <= c)
		a, b, c = slow.monotonic(), fast.monotonic(), slow.monotonic()
		require.True(t, a <= b && b <= c)
		a, b, c = slow.boottime(), fast.boottime(), slow.boottime()
		require.True(t, a <= b && b <= c)
	}
}

// The kernel's code runs on stacks that Go grows, moves and scans, and is
// interrupted by the signals with which Go preempts goroutines.
func TestReadingSurvivesStackGrowthCollectionAndPreemption(t *testing.T) {
	c, err := New()
	require.NoError(t, err)
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for !stop.Load() {
			runtime.GC()
		}
	})
	for range 200 {
		var round sync.WaitGroup
		for range 8 {
			round.Go(func() { // a fresh, small stack each time
				require.Positive(t, deep(c, 20))
				until := c.Now().Add(200 * time.Microsecond)
				for c.Now() < until {
				}
			})
		}
		round.Wait()
	}
	stop.Store(true)
	wg.Wait()
}

func deep(c *Clock, n int) int64 {
	var pad [64]int64
	pad[n%len(pad)] = int64(c.Now())
	if n == 0 {
		return pad[0]
	}
	return deep(c, n-1) + pad[n%len(pad)] - pad[n%len(pad)]
}

func BenchmarkReadBySystemCalls(b *testing.B) {
	c := newClock(syscallSource{})
	b.ReportAllocs()
	for b.Loop() {
		c.Read()
	}
}
