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

// Status is what is known of a reference. It is a value.
type Status struct {
	Name     string
	Source   clocksync.SourceID // of the latest sample; 0 before the first
	Address  string             // that was asked last
	Stratum  int
	Poll     time.Duration // the mean time between two questions, now
	Reach    uint8         // a bit for each of the last eight questions, 1 if it was answered well
	Sent     uint64
	Samples  uint64
	Rejected uint64
	// Reason is why the last answer was rejected that was, and Error why the last
	// question failed that did. Both stay.
	Reason, Error string
	Delay         time.Duration    // of the latest sample
	Distance      time.Duration    // the error that the reference claimed in it
	Latest        clocksync.Sample // the latest sample
	Gone          bool             // it is asked no more: all of its addresses refuse service
}

// Poller asks one reference. Make one with [New].
type Poller struct {
	cfg Config
	src source
	mu  sync.Mutex
	st  Status
}

// New returns what asks a reference, by a hardware clock whose rate error is at
// most rho. The configuration must be valid.
func New(c Config, clock *hwclock.Clock, rho timed.Drift) *Poller {
	p := &Poller{cfg: c, st: Status{Name: c.Name(), Poll: c.poll()}}
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

// Status returns what is known of the reference. It is safe for concurrent use.
func (p *Poller) Status() Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.st
}

const (
	// burst is how many samples are taken quickly at first, burstEvery apart.
	burst      = 4
	burstEvery = 2 * time.Second
	// mostDoubling is how often the interval doubles for a reference that fails.
	mostDoubling = 6
)

// Run asks the reference and delivers its samples, until ctx is done or nobody is
// left to ask.
func (p *Poller) Run(ctx context.Context, deliver func(Sample)) {
	failures := 0
	for {
		s, err := p.src.ask(ctx)
		if ctx.Err() != nil {
			return
		}
		p.note(&s, err)
		switch {
		case err == nil:
			failures = 0
			deliver(s)
		case errors.Is(err, errGone):
			return
		default:
			failures++
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(jitter(p.wait(failures))):
		}
	}
}

// wait returns the mean time until the next question.
func (p *Poller) wait(failures int) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if failures > 0 {
		return min(p.st.Poll<<min(failures-1, mostDoubling), MaxPoll)
	}
	if p.st.Samples < burst {
		return min(burstEvery, p.st.Poll)
	}
	return p.st.Poll
}

// jitter draws a time within a tenth of d, so that nodes do not ask in step.
func jitter(d time.Duration) time.Duration {
	return d - d/10 + time.Duration(rand.Int64N(int64(d/5)+1))
}

// note takes the outcome of a question.
func (p *Poller) note(s *Sample, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	st := &p.st
	st.Sent++
	st.Reach <<= 1
	if s.Address != "" {
		st.Address, st.Stratum = s.Address, s.Stratum
	}
	switch {
	case err == nil:
		st.Reach |= 1
		st.Samples++
		st.Source, st.Delay, st.Distance, st.Latest = s.Source, s.Delay, s.Distance, s.Sample
		return
	case errors.Is(err, errSlow):
		st.Poll = min(2*st.Poll, MaxPoll)
		st.Rejected++
		st.Reason = err.Error()
	case isRejected(err):
		st.Rejected++
		st.Reason = err.Error()
	case errors.Is(err, errGone):
		st.Gone = true
	}
	st.Error = err.Error()
}
