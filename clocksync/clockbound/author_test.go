package clockbound

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/clocksync/serve"
)

// machine simulates clocks that advance whenever they are read.
type machine struct {
	rng     *rand.Rand
	utc     int64 // the truth
	offset  int64 // REALTIME − UTC
	stepped bool
	hook    func()
	rate    int64 // of REALTIME, in parts per billion
	stall   int64 // how long the process is stopped
	stallIn int   // before so many clocks were read
	read    int64 // the truth when REALTIME was read last
}

func (m *machine) pass() {
	m.spend(m.rng.Int64N(50_000))
	if m.stallIn--; m.stallIn == 0 {
		m.spend(m.stall)
	}
}

// spend lets time pass.
func (m *machine) spend(d int64) {
	m.utc += d
	m.offset += d / 1000 * m.rate / 1_000_000
}

func (m *machine) realtime() int64 {
	m.pass()
	m.read = m.utc
	return m.utc + m.offset
}

func (m *machine) coarse() int64 {
	m.pass()
	const tick = 4_000_000
	return m.utc / tick * tick
}

func (m *machine) Stepped() bool {
	was := m.stepped
	m.stepped = false
	return was
}

// answer returns an estimate with a random error within bound.
func (m *machine) answer(bound time.Duration, external bool) serve.Answer {
	m.pass()
	off := m.rng.Int64N(2*int64(bound)+1) - int64(bound)
	a := serve.Answer{Time: clocksync.Time(m.utc + off), Bound: bound, External: external}
	m.pass()
	if m.hook != nil {
		m.hook()
	}
	return a
}

func newMachine(seed uint64) *machine {
	return &machine{rng: rand.New(rand.NewPCG(seed, 1)), utc: 1_800_000_000 * second}
}

func boundsHold(t testing.TB) {
	for seed := range uint64(300) {
		m := newMachine(seed)
		m.offset = m.rng.Int64N(2_000_000) - 1_000_000
		bound := time.Duration(m.rng.Int64N(1_000_000))
		a := author{source: func() serve.Answer { return m.answer(bound, true) }, clocks: m, steps: m, tick: 4_000_000, drift: 600_000}
		r := a.next()
		require.Equal(t, Synchronized, r.status)
		if off := max(m.offset, -m.offset); off > r.bound {
			require.Failf(t, "the bound is wrong", "REALTIME is off by %d ns, and the segment says %d", off, r.bound)
		}
		require.Less(t, r.bound, max(m.offset, -m.offset)+2*int64(bound)+300_000, "seed %d", seed)
		require.LessOrEqual(t, r.asOf, m.utc-4_000_000)
		require.Equal(t, int64(Validity), r.voidAfter-r.asOf)
	}
}

func TestBoundHoldsForREALTIME(t *testing.T) { boundsHold(t) }

// readersAreRight has the process that writes a segment, or that which reads it, be stopped between
// any two readings of clocks, while REALTIME runs as wrong as it may. The interval of a reader has
// the time in it, however old the segment is.
func readersAreRight(t testing.TB) {
	const drift = 600_000
	for seed := range uint64(300) {
		m := newMachine(seed)
		m.offset, m.rate = m.rng.Int64N(2_000)-1_000, drift-1_000
		if m.rng.IntN(2) == 0 {
			m.rate = -m.rate
		}
		m.stall, m.stallIn = m.rng.Int64N(10*second), 1+m.rng.IntN(10)
		a := author{source: func() serve.Answer { return m.answer(1000, true) }, clocks: m, steps: m, tick: 4_000_000, drift: drift}
		content := a.next()
		reader := Reader{seg: newSegment(), clocks: m}
		reader.seg.write(&content)
		m.spend(m.rng.Int64N(int64(Validity)))
		i, err := reader.Now()
		require.NoError(t, err)
		require.LessOrEqual(t, i.Earliest.UnixNano(), m.read, "seed %d", seed)
		require.GreaterOrEqual(t, i.Latest.UnixNano(), m.read, "seed %d", seed)
	}
}

func TestReadersAreRightHoweverSlowTheWriter(t *testing.T) { readersAreRight(t) }

func TestStatusOfAnswers(t *testing.T) {
	m := newMachine(1)
	for _, c := range []struct {
		answer serve.Answer
		want   Status
	}{
		{serve.Answer{Bound: clocksync.UnknownBound}, Unknown},
		{serve.Answer{Bound: clocksync.UnknownBound, External: true}, Unknown},
		{serve.Answer{Bound: -1, External: true}, Unknown},
		{serve.Answer{Bound: noBound + 1, External: true}, Unknown},
		{serve.Answer{Bound: time.Second}, FreeRunning},
		{serve.Answer{Bound: time.Second, External: true}, Synchronized},
	} {
		c.answer.Time = clocksync.Time(m.utc)
		a := author{source: func() serve.Answer { return c.answer }, clocks: m, steps: m, drift: 1}
		r := a.next()
		require.Equal(t, c.want, r.status, "%+v", c.answer)
		require.Equal(t, c.want == Unknown, r.bound == noBound)
	}
	far := author{source: func() serve.Answer { return serve.Answer{Time: 0, Bound: 1, External: true} }, clocks: m, steps: m}
	r := far.next()
	require.Equal(t, Unknown, r.status, "REALTIME is off by decades")
}

func stepsSpoilMeasurements(t testing.TB) {
	for external, status := range map[bool]Status{true: Synchronized, false: FreeRunning} {
		m := newMachine(2)
		a := author{source: func() serve.Answer { return m.answer(1000, external) }, clocks: m, steps: m, drift: 1}
		m.hook = func() { m.offset, m.stepped = m.offset+int64(time.Hour), true }
		r := a.next()
		require.Equal(t, Disrupted, r.status)
		require.Equal(t, int64(noBound), r.bound)
		m.hook = nil
		r = a.next()
		require.Equal(t, status, r.status)
		require.GreaterOrEqual(t, r.bound, int64(time.Hour))
	}
}

func TestStepSpoilsMeasurement(t *testing.T) { stepsSpoilMeasurements(t) }
