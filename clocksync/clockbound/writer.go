package clockbound

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/failaware/failaware/clocksync/serve"
	"github.com/failaware/failaware/timed"
)

// Period is the time between two updates by a [Writer]. The protocol requires one
// per second. More frequent updates give tighter bounds, because bounds grow between
// updates.
const Period = 100 * time.Millisecond

// ErrInUse means that another writer updates the segment.
var ErrInUse = errors.New("another writer updates the segment")

// Options configure a [Writer].
type Options struct {
	// Drift is ρ, the largest rate error of the hardware clock.
	Drift timed.Drift
	// Slew is the fastest rate at which the time daemon slews CLOCK_REALTIME, in
	// parts per billion; zero means [DefaultSlew]. For chrony, it is the maxslewrate
	// of its configuration, 83,333 parts per million by default.
	Slew int64
}

// Validate returns an error that names an invalid option.
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

// stepper reports whether CLOCK_REALTIME was stepped since the last call.
type stepper interface{ Stepped() bool }

// author computes the content of the segment.
type author struct {
	source serve.Source
	clocks clocks
	steps  stepper
	tick   int64 // the resolution of the coarse clock
	drift  uint32
}

// next returns the next record to write.
func (a *author) next() record {
	r := a.measure()
	// A step during the measurement invalidates it. The kernel reports later steps
	// on Writer.stepped.
	if a.steps.Stepped() {
		return a.unbounded(Disrupted)
	}
	return r
}

// unbounded returns a record without a bound.
func (a *author) unbounded(status Status) record {
	return a.record(a.clocks.coarse(), noBound, status)
}

// record returns a record measured at mono. A reader's coarse clock may be one tick
// late, which makes the record look younger. as_of is therefore one tick earlier.
func (a *author) record(mono, bound int64, status Status) record {
	asOf := max(mono-a.tick, 0)
	return record{asOf: asOf, voidAfter: asOf + int64(Validity), bound: bound, maxDrift: a.drift, status: status}
}

// measure bounds |UTC − CLOCK_REALTIME|. The estimate of UTC holds at some instant
// between the two readings of REALTIME, which therefore bound REALTIME at that
// instant. The coarse clock is read first, because an older as_of only increases the
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

// Writer keeps a segment up to date until it is closed; see [Create].
type Writer struct {
	author author
	seg    *segment
	free   func() error // unmaps and unlocks

	stepped <-chan struct{} // the clock was stepped, or the machine was suspended
	stop    chan struct{}
	done    chan struct{}
	once    sync.Once
	err     error
}

// run writes a record immediately and then periodically. It keeps status Disrupted
// for a whole period after a step, so that readers have a chance to see it.
func (w *Writer) run() {
	defer close(w.done)
	r := w.author.next()
	w.seg.write(&r)
	tick := time.NewTicker(Period)
	defer tick.Stop()
	for {
		select {
		case <-w.stop:
			// asOf 0 tells the next writer that the segment is unused.
			w.seg.write(&record{bound: noBound, maxDrift: w.author.drift, status: Unknown})
			return
		case <-w.stepped:
			r = w.author.unbounded(Disrupted)
			w.seg.write(&r)
			tick.Reset(Period)
		case <-tick.C:
			r = w.author.next()
			w.seg.write(&r)
		}
	}
}

// Close sets the status to Unknown and releases the segment. The file remains,
// because programs have it mapped, and the next writer reuses it. Further calls do
// nothing.
func (w *Writer) Close() error {
	w.once.Do(func() {
		close(w.stop)
		<-w.done
		w.err = w.free()
	})
	return w.err
}
