package sim

import (
	"context"
	"maps"
	"sync/atomic"
	"time"
)

// Result is the outcome of a run.
type Result struct {
	Seed       uint64
	Simulated  time.Duration // true time
	Events     uint64        // that were handled
	Hash       uint64        // of what nodes did and claimed: the same for the same seed and options
	Violation  *Violation
	Stable     int           // stable periods
	Missed     int           // stable periods without a leader or a fresh view in time
	WorstElect time.Duration // the longest time to a leader in a stable period
	WorstView  time.Duration // the longest time to an up-to-date view of all
	// WorstDelivery is the longest time from a broadcast to a delivery of it in a stable
	// period, while the views were up to date.
	WorstDelivery time.Duration
	LedTime       time.Duration // node-time led, of UpTime
	FreshTime     time.Duration // node-time with an up-to-date view, of UpTime
	UpTime        time.Duration // node-time of processes that ran
	Counters      Counters
	Reached       map[string]uint64 // see [World.Sometimes]
	Topology      *Topology         // of [RunTopology]
}

// Run simulates one world from a seed: periods of faults, and stable periods in which
// the promised bounds must be met. It stops at the first broken promise.
func Run(seed uint64, opt Options) (Result, error) {
	opt = opt.withDefaults()
	if err := opt.Validate(); err != nil {
		return Result{}, err
	}
	w := newWorld(seed, opt)
	w.run()
	return w.result(), nil
}

func (w *World) run() { w.advance(origin + int64(w.opt.Duration)) }

// runUntil performs events and planned faults up to true time t. It returns false if a
// check has failed.
func (w *World) runUntil(t int64) bool {
	for w.next < w.planned {
		at := origin + int64(w.faults[w.next].At)
		if at > t {
			break
		}
		if !w.runEvents(at) {
			return false
		}
		w.next++
		w.beginFault(int32(w.next - 1))
		w.endEvent()
		if w.failed != nil {
			return false
		}
	}
	return w.runEvents(t)
}

func (w *World) runEvents(t int64) bool {
	for len(w.queue.heap) > 0 && w.queue.heap[0].at <= t {
		if !w.step() || w.events&haltMask == 0 && w.halted() {
			return false
		}
	}
	w.now = max(w.now, t)
	w.check.Now = w.now
	w.check.Live.Observe(w.now)
	return w.failed == nil
}

// haltMask is how often, in events, a run checks whether it must end early.
const haltMask = 1<<12 - 1

// haltWith makes the run end early when ctx is done. The caller calls the result when the
// run has ended.
func (w *World) haltWith(ctx context.Context) (forget func() bool) {
	halt := new(atomic.Bool)
	w.opt.halt = halt
	return context.AfterFunc(ctx, func() { halt.Store(true) })
}

func (w *World) halted() bool { return w.opt.halt != nil && w.opt.halt.Load() }

func (w *World) result() Result {
	l := &w.check.Live
	l.Account(w.now)
	r := Result{
		Seed: w.seed, Simulated: time.Duration(w.now - origin), Events: w.events, Hash: uint64(w.hash) ^ w.check.Digest(),
		Violation: w.failed, Stable: l.Periods, Missed: l.Missed,
		WorstElect: l.WorstElect, WorstView: l.WorstView,
		LedTime: time.Duration(l.LedTime), FreshTime: time.Duration(l.FreshTime), UpTime: time.Duration(l.UpTime),
		Counters: w.Counters(), Reached: maps.Clone(w.reached),
	}
	if w.cast != nil {
		r.WorstDelivery = w.cast.check.Live.Worst
	}
	return r
}
