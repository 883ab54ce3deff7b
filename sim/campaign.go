package sim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Campaign runs many seeds side by side.
type Campaign struct {
	// Options are those of every run.
	Options Options
	// Make, if not nil, returns the options of a seed instead: some seeds may have
	// more nodes than others. It is called by several goroutines.
	Make func(seed uint64) Options
	// First is the first seed. Default 1.
	First uint64
	// Seeds is the largest number of seeds, and Time the longest time; zero means no
	// limit. At least one must be set.
	Seeds uint64
	Time  time.Duration
	// Jobs is the number of concurrent runs. Default: one for each processor.
	Jobs int
	// Play runs a seed. Default [Run]. Several goroutines call it.
	Play func(seed uint64, opt Options) (Result, error)
	// Progress, if not nil, is called every ProgressEvery with the sums so far.
	Progress func(Tally)
	// ProgressEvery defaults to 2 s.
	ProgressEvery time.Duration
}

// MaxJobs is the largest number of runs side by side.
const MaxJobs = 1024

// Run runs the campaign until its end, until ctx is done, or until a promise is
// broken. It returns the sums over the runs, and the violation of the smallest seed
// that broke a promise, if any. The error names the setting that is wrong.
func (c Campaign) Run(ctx context.Context) (Tally, *Violation, error) {
	if c.First == 0 {
		c.First = 1
	}
	if c.Play == nil {
		c.Play = Run
	}
	if c.Jobs == 0 {
		c.Jobs = runtime.GOMAXPROCS(0)
	}
	if c.ProgressEvery == 0 {
		c.ProgressEvery = 2 * time.Second
	}
	switch {
	case c.Jobs < 1 || c.Jobs > MaxJobs:
		return Tally{}, nil, fmt.Errorf("sim: %d jobs: must be 1 to %d", c.Jobs, MaxJobs)
	case c.ProgressEvery < 0:
		return Tally{}, nil, fmt.Errorf("sim: ProgressEvery: %v is below 0", c.ProgressEvery)
	case c.Seeds == 0 && c.Time <= 0:
		return Tally{}, nil, errors.New("sim: a campaign needs a number of seeds, or a time")
	case c.Seeds > 0 && c.First > math.MaxUint64-(c.Seeds-1):
		return Tally{}, nil, fmt.Errorf("sim: there are no %d seeds from %d on", c.Seeds, c.First)
	}
	if err := c.optionsOf(c.First).Validate(); err != nil {
		return Tally{}, nil, err
	}
	r := runner{c: &c, next: c.First, began: time.Now()}
	return r.run(ctx)
}

func (c *Campaign) optionsOf(seed uint64) Options {
	if c.Make != nil {
		return c.Make(seed)
	}
	return c.Options
}

// runner is a campaign under way.
type runner struct {
	c     *Campaign
	began time.Time

	mu         sync.Mutex
	next       uint64
	sum        Tally
	violations []*Violation
	err        error
	ended      bool        // no new run begins
	halt       atomic.Bool // the runs under way stop
}

func (r *runner) run(ctx context.Context) (Tally, *Violation, error) {
	defer context.AfterFunc(ctx, func() { r.end(true) })()
	if r.c.Time > 0 {
		defer time.AfterFunc(r.c.Time, func() { r.end(false) }).Stop()
	}
	var wg sync.WaitGroup
	for range r.c.Jobs {
		wg.Go(r.work)
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	tick := time.NewTicker(r.c.ProgressEvery)
	defer tick.Stop()
	for running := true; running; {
		select {
		case <-done:
			running = false
		case <-tick.C:
			if r.c.Progress != nil {
				r.c.Progress(r.tally())
			}
		}
	}
	t := r.tally()
	if r.err != nil {
		return t, nil, r.err
	}
	var first *Violation
	for _, v := range r.violations {
		if first == nil || v.Seed < first.Seed {
			first = v
		}
	}
	return t, first, nil
}

// end lets no further run begin.
func (r *runner) end(interrupted bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sum.Interrupted = r.sum.Interrupted || interrupted
	r.ended = true
	if interrupted {
		r.halt.Store(true)
	}
}

func (r *runner) tally() Tally {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.sum
	t.Reached = maps.Clone(t.Reached)
	t.finish(r.c.optionsOf(r.c.First), len(r.violations), time.Since(r.began))
	return t
}

// take returns the next seed.
func (r *runner) take() (seed uint64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || r.c.Seeds > 0 && r.next-r.c.First >= r.c.Seeds || r.next == 0 { // the largest seed was taken
		return 0, false
	}
	r.next++
	return r.next - 1, true
}

// work runs seeds until the campaign ends.
func (r *runner) work() {
	for {
		seed, ok := r.take()
		if !ok {
			return
		}
		r.record(r.runSeed(seed))
	}
}

// record records the outcome of a run, and ends the campaign at a violation or an error.
func (r *runner) record(v *Violation, err error) {
	if v == nil && err == nil {
		return
	}
	r.mu.Lock()
	if v != nil {
		r.violations = append(r.violations, v)
	}
	if err != nil {
		r.err = err
	}
	r.mu.Unlock()
	r.end(false)
}

func (r *runner) runSeed(seed uint64) (*Violation, error) {
	returned := false
	defer func() {
		if !returned { // runtime.Goexit would otherwise lose the seed unnoticed
			r.record(&Violation{Seed: seed, Check: panicCheck,
				Detail: exited, exited: true}, nil)
		}
	}()
	v, err := r.simulate(seed)
	returned = true
	return v, err
}

func (r *runner) simulate(seed uint64) (*Violation, error) {
	opt := r.c.optionsOf(seed)
	opt.halt, opt.contained = &r.halt, true
	res, err := r.c.Play(seed, opt)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sum.add(&res)
	return res.Violation, nil
}
