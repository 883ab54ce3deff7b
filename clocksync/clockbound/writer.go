package clockbound

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/failaware/failaware/clocksync/serve"
	"github.com/failaware/failaware/timed"
)

// Period is how often a [Writer] updates the segment. The protocol asks for once
// a second; readers let the bound grow from one update to the next, so tighter
// bounds need more of them.
const Period = 100 * time.Millisecond

// ErrInUse tells that another writer updates the segment.
var ErrInUse = errors.New("another writer updates the segment")

// Options are the choices of a [Writer].
type Options struct {
	// Drift is ρ, the rate error of the hardware clock at most.
	Drift timed.Drift
	// Slew is how fast CLOCK_REALTIME is slewed at most by whatever disciplines
	// it, in parts per billion; zero means [DefaultSlew]. With chrony it is the
	// maxslewrate of its configuration, 83,333 parts per million unless set.
	Slew int64
}

// Validate names the option that is wrong.
func (o Options) Validate() error {
	if err := o.Drift.Validate(); err != nil {
		return fmt.Errorf("option Drift: %w", err)
	}
	if o.Slew < 0 || o.Slew > MaxSlew {
		return fmt.Errorf("option Slew: %d ppb is outside [0, %d]", o.Slew, MaxSlew)
	}
	return nil
}

// clocks are the kernel's clocks, in nanoseconds.
type clocks interface {
	realtime() int64
	coarse() int64 // CLOCK_MONOTONIC_COARSE
}

// stepper reports steps of CLOCK_REALTIME since it was last asked.
type stepper interface{ Stepped() bool }

// author decides what the segment says.
type author struct {
	source serve.Source
	clocks clocks
	steps  stepper
	tick   int64 // the resolution of the coarse clock
	drift  uint32
}

// next returns what is to be written now.
func (a *author) next() record {
	r := a.measure()
	// A step in the middle of the measurement has spoilt it. One that comes
	// after this question is told by the kernel to who waits for it.
	if a.steps.Stepped() {
		return a.without(Disrupted)
	}
	return r
}

// without returns a record that has no bound.
func (a *author) without(status Status) record { return a.record(a.clocks.coarse(), noBound, status) }

// record fills in what all records have. The coarse clock stands still between
// two ticks, so a reader may see it up to one tick late, and find the record
// younger than it is: hence as_of is earlier by one tick.
func (a *author) record(mono, bound int64, status Status) record {
	asOf := max(mono-a.tick, 0)
	return record{asOf: asOf, voidAfter: asOf + int64(Validity), bound: bound, maxDrift: a.drift, status: status}
}

// measure bounds |UTC − CLOCK_REALTIME|. UTC was in its interval at some instant
// between the two readings of REALTIME, which therefore bound what REALTIME showed
// then. The coarse clock is read before, since an older as_of only adds to the
// bound that readers compute.
func (a *author) measure() record {
	mono := a.clocks.coarse()
	before := a.clocks.realtime()
	utc := a.source()
	after := a.clocks.realtime()
	if !utc.Known() || utc.Bound > noBound {
		return a.record(mono, noBound, Unknown)
	}
	low := int64(utc.Time) - int64(utc.Bound) - max(before, after)
	high := int64(utc.Time) + int64(utc.Bound) - min(before, after)
	bound := max(-low, high)
	switch {
	case bound > noBound:
		return a.record(mono, noBound, Unknown)
	case utc.External:
		return a.record(mono, bound, Synchronized)
	}
	return a.record(mono, bound, FreeRunning)
}

// Writer keeps a segment up to date until it is closed. Make one with [Create].
type Writer struct {
	author author
	seg    *segment
	free   func() error // unmaps, and gives up the lock

	told <-chan struct{} // the clock was stepped, or the machine slept
	stop chan struct{}
	done chan struct{}
	once sync.Once
	err  error
}

// run writes at once, and then again and again. After a notice nothing is
// measured for a whole period, so that who looks less often has a chance to see it.
func (w *Writer) run() {
	defer close(w.done)
	r := w.author.next()
	w.seg.write(&r)
	tick := time.NewTicker(Period)
	defer tick.Stop()
	for {
		select {
		case <-w.stop:
			// From the beginning of time: the next writer sees that nobody writes.
			w.seg.write(&record{bound: noBound, maxDrift: w.author.drift, status: Unknown})
			return
		case <-w.told:
			r = w.author.without(Disrupted)
			w.seg.write(&r)
			tick.Reset(Period)
		case <-tick.C:
			r = w.author.next()
			w.seg.write(&r)
		}
	}
}

// Close writes that nothing is known any more, and gives the segment up. The file
// stays, since programs have it mapped; the next writer goes on with it. Closing
// again does nothing.
func (w *Writer) Close() error {
	w.once.Do(func() {
		close(w.stop)
		<-w.done
		w.err = w.free()
	})
	return w.err
}
