package hwclock

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

func TestHLiesBetweenItsTrueValuesAtTheFirstAndTheLastReading(t *testing.T) {
	for seed := range uint64(60) {
		require.NoError(t, checkClock(seed, 2000))
	}
}

func TestLooseReadingsAreRepeatedAndTheTightestCounts(t *testing.T) {
	// Delays between RAW and RAW of eight tries; the fifth is the tightest.
	gaps := []int64{900, 800, 700, 600, 100, 500, 400, 300}
	s := &scripted{}
	for i, gap := range gaps {
		start := int64(i) * 10_000_000
		s.values = append(s.values, start, 1000, 1000+7, start+gap*1000)
	}
	got := compose(s)
	require.Equal(t, timed.Instant(4*10_000_000+7), got.now)
	require.Equal(t, 100*time.Microsecond, got.gap)
	require.Empty(t, s.values, "eight tries, no more")

	s = &scripted{values: []int64{0, 5, 5, 50_001, 100_000, 5, 6, 150_000, 1, 1, 1, 1}}
	got = compose(s)
	require.Equal(t, timed.Instant(100_001), got.now)
	require.Len(t, s.values, 4, "a gap of 50 µs is tight enough")

	s = &scripted{values: []int64{100_000, 5, 6, 99_000, 200_000, 5, 6, 200_100}}
	require.Equal(t, timed.Instant(200_001), compose(s).now, "a RAW that ran backwards is no tight one")
}

// scripted returns the given values, whatever clock is read.
type scripted struct{ values []int64 }

func (s *scripted) next() int64 {
	v := s.values[0]
	s.values = s.values[1:]
	return v
}
func (s *scripted) raw() int64       { return s.next() }
func (s *scripted) monotonic() int64 { return s.next() }
func (s *scripted) boottime() int64  { return s.next() }

func TestOneSuspendCountsOnce(t *testing.T) {
	w := newWorld(1)
	c := newClock(w)
	require.Zero(t, c.Read().Era)
	for i := uint32(1); i <= 5; i++ {
		before := c.Read()
		w.suspend(50 * time.Millisecond)
		for range 20 {
			r := c.Read()
			require.Equal(t, i, r.Era)
			require.InDelta(t, 50*time.Millisecond, r.Asleep-before.Asleep, float64(5*time.Microsecond))
			require.GreaterOrEqual(t, r.Now.Sub(before.Now), 50*time.Millisecond)
		}
	}
}

// hooked runs a function in the middle of one reading.
type hooked struct {
	*world
	hook func()
}

func (h *hooked) boottime() int64 {
	b := h.world.boottime()
	if hook := h.hook; hook != nil {
		h.hook = nil
		hook()
	}
	return b
}

func TestAReaderHeldUpOverASuspendNeitherCountsItAgainNorPassesForFresh(t *testing.T) {
	h := &hooked{world: newWorld(2)}
	c := newClock(h)
	before := c.Read()
	h.hook = func() { // the machine sleeps, and another reader notices first
		h.suspend(time.Second)
		require.Equal(t, uint32(1), c.Read().Era)
	}
	r := c.Read()
	require.Equal(t, uint32(1), r.Era)
	require.GreaterOrEqual(t, r.Now.Sub(before.Now), time.Second, "the reading from before the suspend is discarded")
	for range 20 {
		require.Equal(t, uint32(1), c.Read().Era)
	}
}

// shared is a machine for many goroutines: every reading of a clock takes 10 ns.
type shared struct{ awake, asleep atomic.Int64 }

func (s *shared) raw() int64       { return s.awake.Add(10) }
func (s *shared) monotonic() int64 { return s.awake.Add(10) }
func (s *shared) boottime() int64  { return s.awake.Add(10) + s.asleep.Load() }

func TestConcurrentReadersCountEverySuspendOnce(t *testing.T) {
	s := &shared{}
	c := newClock(s)
	var stop atomic.Bool
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			var previous Reading
			for !stop.Load() {
				r := c.Read()
				if r.Now < previous.Now || r.Era < previous.Era {
					t.Errorf("%+v after %+v", r, previous)
					return
				}
				previous = r
			}
		})
	}
	for i := uint32(1); i <= 500; i++ {
		s.asleep.Add(int64(time.Hour))
		require.Equal(t, i, c.Read().Era)
	}
	stop.Store(true)
	wg.Wait()
	require.Equal(t, uint32(500), c.Read().Era)
}

func TestTheMachinesOwnClockGrowsAtTheRateOfGosClock(t *testing.T) {
	c, err := New()
	require.NoError(t, err)
	var previous Reading
	for range 20_000 {
		r := c.Read()
		require.GreaterOrEqual(t, r.Now, previous.Now)
		previous = r
	}
	// Go's clock is read inside and outside of two readings of H, so that
	// delays cannot fail the test; one tenth allows for slewing.
	outer := time.Now()
	a := c.Now()
	inner := time.Now()
	time.Sleep(20 * time.Millisecond)
	shortest := time.Since(inner)
	d := c.Now().Sub(a)
	longest := time.Since(outer)
	require.GreaterOrEqual(t, d, shortest*9/10)
	require.LessOrEqual(t, d, longest*11/10+time.Microsecond)
}

func TestReadingDoesNotAllocate(t *testing.T) {
	c, err := New()
	require.NoError(t, err)
	require.Zero(t, testing.AllocsPerRun(1000, func() { c.Read() }))
	require.Zero(t, testing.AllocsPerRun(1000, func() { c.SampleRealtime() }))
}

func BenchmarkRead(b *testing.B) {
	c, err := New()
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		c.Read()
	}
}

// BenchmarkReadSingle shows the median and the 99th percentile of single readings,
// which are the differences between one and the next.
func BenchmarkReadSingle(b *testing.B) {
	c, err := New()
	require.NoError(b, err)
	took := make([]time.Duration, 0, 1<<20)
	last := c.Now()
	for b.Loop() {
		now := c.Now()
		if len(took) < cap(took) {
			took = append(took, now.Sub(last))
		}
		last = now
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2]), "p50-ns")
	b.ReportMetric(float64(took[len(took)*99/100]), "p99-ns")
}

func BenchmarkReadParallel(b *testing.B) {
	c, err := New()
	require.NoError(b, err)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			c.Read()
		}
	})
}
