package reference

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/timed"
)

// Status describes a reference. It is a value.
type Status struct {
	Name     string             // as configured
	Source   clocksync.SourceID // of the latest sample; 0 before the first
	Address  string             // polled last
	Stratum  int                // 0 if unknown
	Poll     time.Duration      // mean time until the next poll: longer while none succeeds
	Reach    uint8              // one bit for each of the last eight polls, 1 if it gave a sample
	Sent     uint64             // polls
	Samples  uint64             // answers that gave a sample
	Rejected uint64             // answers that could not be used
	// Reason explains the latest rejected answer, and Error the latest failed poll.
	// Later successes do not clear them.
	Reason, Error string
	Delay         time.Duration    // of the latest sample
	Distance      time.Duration    // of the latest sample
	Latest        clocksync.Sample // the latest sample
	Gone          bool             // all addresses deny service, so none is asked for hours
}

// Poller polls one reference; see [New].
type Poller struct {
	src source
	era func() uint32 // of the hardware clock
	mu  sync.Mutex
	st  Status // with the mean time between two polls that succeed

	base     time.Duration // the mean time between two polls as configured
	failures int           // since the last success
	kisses   int           // that asked to slow down, since the poller was last calm at its base
	calm     int           // successes since the period has changed
}

// New returns a poller that uses a hardware clock with a rate error of at most rho.
// The configuration must be valid.
func New(c Config, clock *hwclock.Clock, rho timed.Drift) *Poller {
	p := &Poller{st: Status{Name: c.Name(), Poll: c.interval()}, base: c.interval(), era: func() uint32 { return clock.Read().Era }}
	switch {
	case c.NTP != "":
		p.src = newServer(c, clock, rho)
	case c.KernelClock:
		p.src = newKernel(clock, rho)
	default:
		p.src = newPHC(c, clock, rho)
	}
	return p
}

// Status returns the status of the reference. It is safe for concurrent use.
func (p *Poller) Status() Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	st := p.st
	st.Poll = p.wait()
	return st
}

const (
	// burst is the number of samples taken initially at intervals of burstPeriod.
	burst       = 4
	burstPeriod = 2 * time.Second
	// maxDoublings bounds the exponential backoff for a failing reference.
	maxDoublings = 6
	// calmPolls is how many polls succeed before one that was asked to slow down tries a shorter
	// period again. Each further kiss doubles them, the first maxCalm times.
	calmPolls = 8
	maxCalm   = 4
)

// Run polls the reference and delivers its samples until ctx is done. While all addresses deny
// service it looks for others, and asks the same ones hours later.
func (p *Poller) Run(ctx context.Context, deliver func(Sample)) {
	for {
		s, err := p.poll(ctx)
		if ctx.Err() != nil {
			return
		}
		p.note(&s, err)
		if err == nil {
			deliver(s)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(jitter(p.Status().Poll)):
		}
	}
}

// poll polls the reference once. Some hardware measures sleep coarsely, so a sample says nothing if
// the machine slept meanwhile.
func (p *Poller) poll(ctx context.Context) (Sample, error) {
	era := p.era()
	s, err := p.src.poll(ctx)
	if s.Era = era; err == nil && p.era() != era {
		err = errSuspended
	}
	return s, err
}

// wait returns the mean time until the next poll. The caller holds the lock.
func (p *Poller) wait() time.Duration {
	if p.failures > 0 {
		return min(p.st.Poll<<min(p.failures-1, maxDoublings), MaxPoll)
	}
	if p.st.Samples < burst {
		return min(burstPeriod, p.st.Poll)
	}
	return p.st.Poll
}

// jitter returns a random duration within a tenth of d, so that nodes do not poll in
// step.
func jitter(d time.Duration) time.Duration {
	return d - d/10 + time.Duration(rand.Int64N(int64(d/5)+1))
}

// slowDown doubles the period, as RFC 5905 demands after each kiss.
func (p *Poller) slowDown() {
	p.st.Poll = min(2*p.st.Poll, MaxPoll)
	p.kisses, p.calm = p.kisses+1, 0
}

// calmDown notes a success. The RFC does not say for how long a kiss counts. A server kisses also
// for a burst of others behind the same address, and the bound on UTC grows with the period: the
// kisses of months must not add up. So the period is halved from time to time, down to the
// configured one. A server that kisses again is tried more and more seldom.
func (p *Poller) calmDown() {
	if p.kisses == 0 {
		return
	}
	if p.calm++; p.calm < calmPolls<<min(p.kisses-1, maxCalm) {
		return
	}
	if p.calm = 0; p.st.Poll == p.base {
		p.kisses = 0
	}
	p.st.Poll = max(p.st.Poll/2, p.base)
}

// note updates the status with the outcome of a poll.
func (p *Poller) note(s *Sample, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	st := &p.st
	st.Sent++
	st.Reach <<= 1
	st.Gone = errors.Is(err, errGone)
	if s.Address != "" {
		st.Address, st.Stratum = s.Address, s.Stratum
	}
	switch {
	case err == nil:
		p.failures = 0
		p.calmDown()
		st.Reach |= 1
		st.Samples++
		st.Source, st.Delay, st.Distance, st.Latest = s.Source, s.Delay, s.Distance, s.Sample
		return
	case errors.Is(err, errSlow):
		p.slowDown()
		st.Rejected++
		st.Reason = err.Error()
	case isRejected(err):
		st.Rejected++
		st.Reason = err.Error()
	case errors.Is(err, errGone):
		st.Sent--
	}
	st.Error = err.Error()
	p.failures++
}
