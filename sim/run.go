package sim

import (
	"maps"
	"time"
)

// Result is what one run found.
type Result struct {
	Seed       uint64
	Simulated  time.Duration
	Events     uint64
	Hash       uint64 // of the trace: the same for the same seed and options
	Violation  *Violation
	Stable     int // stable periods
	Missed     int // of them, those that were not led or fresh in time
	WorstElect time.Duration
	WorstView  time.Duration
	// WorstDelivery is the longest time from a broadcast to a delivery of it in a
	// still period, while the views were up to date.
	WorstDelivery time.Duration
	LedTime       time.Duration // node-time led, of UpTime
	FreshTime     time.Duration
	UpTime        time.Duration
	Counters      Counters
	Reached       map[string]uint64 // see [World.Sometimes]
	Topology      *Topology         // of [RunTopology]
}

// Run simulates one world from a seed: phases in which faults strike, and
// still periods in which the promised bounds must be met. It stops at the
// first broken promise.
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

func (w *World) result() Result {
	l := &w.check.live
	l.account(w.now)
	r := Result{
		Seed: w.seed, Simulated: time.Duration(w.now - origin), Events: w.events, Hash: w.hash,
		Violation: w.check.failed, Stable: l.periods, Missed: l.missed,
		WorstElect: l.worstElect, WorstView: l.worstView,
		LedTime: time.Duration(l.ledTime), FreshTime: time.Duration(l.freshTime), UpTime: time.Duration(l.upTime),
		Counters: w.count, Reached: maps.Clone(w.reached),
	}
	if w.cast != nil {
		r.WorstDelivery = w.cast.live.worst
	}
	return r
}
