package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/failaware/failaware/sim"
)

// campaign runs seeds side by side.
type campaign struct {
	flags *simFlags
	opt   sim.Options
	out   io.Writer
	err   io.Writer
	first uint64
	seeds uint64

	next atomic.Uint64
	stop atomic.Bool
	mu   sync.Mutex
	sum  tally
	bad  []*sim.Violation
}

func (c *campaign) run() error {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(interrupts)
	began := time.Now()
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range min(uint64(c.flags.jobs), c.seeds) {
		wg.Go(c.work)
	}
	go func() { wg.Wait(); close(done) }()
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for running := true; running; {
		select {
		case <-done:
			running = false
		case <-interrupts:
			c.stop.Store(true)
			c.mu.Lock()
			c.sum.Interrupted = true
			c.mu.Unlock()
		case <-tick.C:
			c.progress(time.Since(began))
		}
	}
	return c.report(time.Since(began))
}

// work runs seeds until none is left or one has found something.
func (c *campaign) work() {
	for !c.stop.Load() {
		i := c.next.Add(1) - 1
		if i >= c.seeds {
			return
		}
		if v := c.one(c.first + i); v != nil {
			c.mu.Lock()
			c.bad = append(c.bad, v)
			c.mu.Unlock()
			c.stop.Store(true)
		}
	}
}

func (c *campaign) one(seed uint64) *sim.Violation {
	if c.flags.topologies > 0 {
		r, err := sim.RunTopology(seed, c.opt)
		if err != nil {
			return &sim.Violation{Seed: seed, Check: "options", Detail: err.Error()}
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.sum.Seeds++
		c.sum.Events += r.Events
		c.sum.SimulatedSeconds += r.Simulated.Seconds()
		c.sum.Groups += r.Leaders.Len()
		c.sum.Cover += r.Cover
		c.sum.WorstSettleMS = max(c.sum.WorstSettleMS, milliseconds(r.Settled))
		c.sum.led, c.sum.fresh, c.sum.up = c.sum.led+r.LedTime, c.sum.fresh+r.FreshTime, c.sum.up+r.UpTime
		c.sum.hash += spread(r.Hash, seed)
		return r.Violation
	}
	r, err := sim.Run(seed, c.opt)
	if err != nil {
		return &sim.Violation{Seed: seed, Check: "options", Detail: err.Error()}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sum.add(&r)
	return r.Violation
}

func (c *campaign) progress(elapsed time.Duration) {
	if c.flags.quiet {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	rate := float64(c.sum.Events) / elapsed.Seconds()
	left := time.Duration(0)
	if c.sum.Seeds > 0 {
		left = elapsed * time.Duration(c.seeds-c.sum.Seeds) / time.Duration(c.sum.Seeds)
	}
	fmt.Fprintf(c.err, "sim: %d of %d seeds, %.0f simulated seconds, %.2f M events/s, %v left\n",
		c.sum.Seeds, c.seeds, c.sum.SimulatedSeconds, rate/1e6, left.Round(time.Second))
}

func (c *campaign) report(elapsed time.Duration) error {
	s := &c.sum
	s.Violations = len(c.bad)
	if elapsed > 0 {
		s.EventsPerSecond = float64(int(float64(s.Events) / elapsed.Seconds()))
	}
	s.Led, s.Fresh = share(s.led, s.up), share(s.fresh, s.up)
	s.Hash = fmt.Sprintf("%016x", s.hash)
	if c.flags.trace {
		fmt.Fprintf(c.out, "trace hash %s\n", s.Hash)
	}
	if b, err := c.opt.Timing.Validate(); err == nil && c.flags.topologies == 0 {
		s.BoundElectionMS, s.BoundViewMS, s.RejoinMS = milliseconds(b.Elect), milliseconds(b.View), milliseconds(b.Rejoin)
	}
	for _, v := range c.bad {
		fmt.Fprintf(c.err, "failaware: %v\nreplay: %s\n", v, c.flags.replay(v.Seed))
	}
	line, err := json.Marshal(s)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.out, "%s\n", line)
	if len(c.bad) > 0 {
		return silent(errViolation, 1)
	}
	if s.Interrupted {
		return silent(errors.New("interrupted"), 1)
	}
	return nil
}
