package clocksync

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// A clock is off by 0.1 s and 100 ppm, and its rate walks at random. A server is behind
// delays of 100 µs and an exponential 100 µs more. Within a minute group time is at
// UTC, and stays within 100 µs. No bound is ever wrong.
func TestLeaderFollowsUTC(t *testing.T) {
	for seed := uint64(1); seed <= 2; seed++ {
		rms, synced := steered(t, seed, 10_000)
		t.Logf("seed %d: RMS %.1f µs, within 1 ms after %v", seed, rms*1e6, synced)
		require.LessOrEqual(t, rms, 100e-6)
		require.LessOrEqual(t, synced, 60*time.Second)
	}
}

// steered returns the root of the mean square of the distance from UTC after the first
// minute, and the instant from which it stays below a millisecond.
func steered(t *testing.T, seed uint64, length int) (rms float64, synced time.Duration) {
	const tick = 100 * time.Millisecond
	r := rand.New(rand.NewPCG(seed, 1))
	cfg := utcConfig(1)
	rho := timed.Drift(200_000)
	cfg.Timing.MaxDrift = rho
	c := New(cfg, start, wall+Time(100*time.Millisecond))
	c.HandleLead(start, nil)
	truth, h, rate := float64(0), float64(0), 100e-6 // seconds; the clock is fast
	now := func() timed.Instant { return start + timed.Instant(h*1e9) }
	utc := func() Time { return wall + Time(truth*1e9) }
	next, polls, n, last := 0.0, 0, 0, time.Duration(0)
	pass := func(d float64) { truth, h = truth+d, h+d*(1+rate) }
	var shown Time
	var id TimelineID
	for truth < float64(length) {
		if truth >= next {
			delay := func() float64 { return 100e-6 + 100e-6*r.ExpFloat64() }
			sent := now()
			pass(delay())
			at := utc()
			pass(delay())
			s := FromExchange(1, sent, now(), at, at, time.Microsecond, rho)
			c.HandleSample(now(), &s, nil)
			if polls++; polls < 8 {
				next = truth + 2
			} else {
				next = truth + 16
			}
		}
		pass(tick.Seconds())
		rate += 1e-9 * math.Sqrt(tick.Seconds()) * r.NormFloat64()
		c.Steer(now(), nil)
		before := c.snap.until
		announced(t, c, now(), timed.Later(before, now().Add(80*time.Millisecond)))
		got := c.Read(now())
		off := got.Time.Sub(utc())
		require.LessOrEqual(t, off.Abs(), got.UTCBound)
		require.Zero(t, got.Deviation, "the leader is group time")
		if got.Timeline == id {
			require.GreaterOrEqual(t, got.Time, shown, "time ran back")
		}
		shown, id = got.Time, got.Timeline
		if off.Abs() > time.Millisecond || got.Status != External {
			last = time.Duration(truth * 1e9)
		}
		if truth > 60 {
			rms += off.Seconds() * off.Seconds()
			n++
		}
	}
	return math.Sqrt(rms / float64(n)), last
}

// An announced line stays true until its promise is over, wherever it bends. Followers
// never run back. A renewed lease may end before an older one: the older promise holds.
// Leases of seconds outlast the time until the rate is chosen again.
func TestBendsKeepPromises(t *testing.T) { bendsKeepPromises(t) }

func bendsKeepPromises(t testing.TB) {
	bendsKeep(t, 1)
	bendsKeep(t, 20)
}

// bendsKeep has a leader renew leases that are so many times longer than usual.
func bendsKeep(t testing.TB, longer time.Duration) {
	ms := longer * time.Millisecond
	c := utcLeader()
	f := New(utcConfig(2), start, wall)
	var old []Line
	var line Line
	for i := range 400 {
		at := start.Add(time.Duration(i) * 25 * ms)
		if i%20 == 0 {
			says(c, 1, at, time.Duration(i%7)*time.Millisecond, 10*time.Millisecond, NoLeap)
		}
		c.Steer(at, nil)
		line = announced(t, c, at, at.Add(time.Duration(40+(i+1)%5*30)*ms))
		for _, o := range old[max(len(old)-8, 0):] {
			for h := at; o.Timeline == line.Timeline && h <= o.Until; h = h.Add(5 * ms) {
				require.InDelta(t, float64(o.At(h)-wall), float64(line.At(h)-wall), 2)
			}
		}
		before := f.Read(at)
		f.HandleLine(at, &line, 0, 0, nil)
		require.GreaterOrEqual(t, f.Read(at).Time, before.Time)
		require.LessOrEqual(t, f.Read(at).Time.Sub(line.At(at)).Abs(), f.Read(at).Deviation)
		until := f.Read(at.Add(35 * ms))
		require.LessOrEqual(t, until.Time.Sub(line.At(at.Add(35*ms))).Abs(), until.Deviation, "beyond a bend")
		old = append(old, line)
	}
	require.NotZero(t, line.Rate, "it does follow")
}

// The deviation covers a bend as early and as late as the offset allows, also one that may
// have come already.
func TestBendsComeWhenTheyCome(t *testing.T) { bendsComeLate(t) }

func bendsComeLate(t testing.TB) {
	const width, step = 2 * time.Millisecond, 100 * time.Microsecond
	_, line := leader(t, 1, wall)
	for bend := -2 * width; bend <= 2*width; bend += step {
		line.Bend = start.Add(bend)
		for _, rate := range []int64{-DefaultMaxSlew, DefaultMaxSlew} {
			line.Rate, line.Next = rate, -rate
			// The leader's clock equals the follower's at one end of the interval.
			for _, lo := range []time.Duration{0, -width} {
				f := New(config(2), start, wall+Time(6*time.Millisecond))
				f.NoteShared()
				f.HandleLine(start, &line, lo, lo+width, nil)
				for at := start; at < start.Add(3*width); at = at.Add(step) {
					r := f.Read(at)
					if off := r.Time.Sub(line.At(at)).Abs(); off > r.Deviation {
						t.Fatalf("%v after the line, with a bend at %v: off by %v, and the deviation is %v", at.Sub(start), bend, off, r.Deviation)
					}
				}
			}
		}
	}
}

// A server that is found to be a falseticker no longer affects the steering, and
// neither do its earlier samples.
func TestFalsetickersDoNotSteer(t *testing.T) { falsetickersDoNotSteer(t) }

func falsetickersDoNotSteer(t testing.TB) {
	cfg := utcConfig(1)
	cfg.MinReferences = 3
	c := New(cfg, start, wall)
	c.HandleLead(start, nil)
	for i := range 8 {
		at := start.Add(time.Duration(i) * time.Second)
		says(c, 3, at, 10*time.Second, time.Millisecond, NoLeap)
		says(c, 1, at, 0, time.Millisecond, NoLeap)
	}
	at := start.Add(8 * time.Second)
	says(c, 2, at, 0, time.Millisecond, NoLeap)
	require.Equal(t, External, c.Read(at).Status)
	later := at.Add(10 * time.Second)
	require.InDelta(t, float64(wall+Time(later.Sub(start))), float64(c.sources.steer.at(later)), float64(100*time.Microsecond))
	require.Contains(t, kinds(says(c, 2, later, -10*time.Second, time.Millisecond, NoLeap)), UTCChanged)
	require.False(t, c.sources.steer.ready(later), "in a dispute, nobody knows which samples were right")
	require.Empty(t, c.Steer(later, nil))
}

// A node that does not lead bends nothing.
func TestFollowersDoNotSteer(t *testing.T) {
	c := utcLeader()
	says(c, 1, start, 20*time.Millisecond, time.Millisecond, NoLeap)
	_, line := leader(t, 2, wall)
	c.HandleLine(start, &line, 0, 0, nil)
	before := *c
	require.Empty(t, c.Steer(start, nil))
	require.Equal(t, before.snap, c.snap)
	require.Equal(t, before.line, c.line)
}

// While the rate of a clock changes, old samples do not count. While it does not, all
// samples count.
func TestCurvesAreNoLines(t *testing.T) { curvesAreNoLines(t) }

func curvesAreNoLines(t testing.TB) {
	r := rand.New(rand.NewPCG(1, 1))
	guess := func(curve, rate float64) (s steering, off float64) {
		var at timed.Instant
		var truth float64
		for k := range 200 {
			at = start.Add(time.Duration(k) * 16 * time.Second)
			truth = 0.5*curve*math.Pow(16*float64(k), 2) + rate*16*float64(k)
			half := 200 * time.Microsecond
			noise := r.NormFloat64() * 50e3
			utc := wall + Time(at.Sub(start)) + Time(truth*1e9+noise)
			s.add(1, interval{at, utc - Time(half), utc + Time(half)})
			again := s
			again.fit(at)
			require.Equal(t, again, s, "the line is that of the samples which count")
		}
		return s, math.Abs(float64(s.at(at)-wall-Time(at.Sub(start))) - truth*1e9)
	}
	for _, rate := range []float64{0, 5e-5} {
		s, off := guess(0, rate)
		require.GreaterOrEqual(t, s.n, observations*3/4)
		require.Less(t, off, 50e3)
	}
	s, off := guess(5e-8, 0) // 60 ppm in 20 minutes
	require.Less(t, s.n, observations/2)
	require.Greater(t, s.n, leastFit, "no more are removed than show a curve")
	require.Less(t, off, 500e3, "all samples would be off by 2 ms")
}

func TestLargeDifferencesStepOnlyWhenSure(t *testing.T) {
	c := utcLeader()
	says(c, 1, start, 30*time.Millisecond, 40*time.Millisecond, NoLeap)
	require.Empty(t, c.Steer(start, nil), "group time may be right")
	at := start.Add(time.Second)
	says(c, 1, at, 30*time.Millisecond, time.Millisecond, NoLeap)
	before := c.Read(at)
	out := c.Steer(at, nil)
	require.Equal(t, []Kind{Stepped}, kinds(out))
	require.Equal(t, before.Timeline, out[0].Parent)
	require.NotEqual(t, before.Timeline, c.Read(at).Timeline)
	require.InDelta(t, float64(30*time.Millisecond), float64(out[0].Step), float64(3*time.Millisecond))
	require.Equal(t, External, c.Read(at).Status)
}
