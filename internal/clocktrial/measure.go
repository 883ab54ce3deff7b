package clocktrial

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/sim"
	"github.com/failaware/failaware/sim/fault"
)

// Sample is the reading of one node's clock at one instant, and its true error.
type Sample struct {
	At    time.Duration // true time since the start
	Node  int
	Error time.Duration // Time − UTC
	clocksync.Reading
}

// Result is the outcome of the runs of one trial, over all nodes and once a second.
type Result struct {
	Scenario string `json:"scenario"`
	Seeds    int    `json:"seeds"`
	Samples  int    `json:"samples"`   // readings
	Bounded  int    `json:"bounded"`   // of them, bound the distance from UTC
	Outside  int    `json:"outside"`   // of those, by less than it was
	Monotone bool   `json:"monotone"`  // no clock ever ran back within a timeline
	Timely   int    `json:"in_minute"` // readings from the first minute on, of which the error is below
	RMSNS    int64  `json:"rms_ns"`    // root mean square of the error from the first minute on
	WorstNS  int64  `json:"worst_ns"`  // the largest error from then on

	// The start of the first minute in which all nodes were External and within 1 ms, and
	// within 100 µs, of UTC; the latest of all seeds, or null if a seed had none.
	Within1msNS   *int64 `json:"within_1ms_ns"`
	Within100usNS *int64 `json:"within_100us_ns"`

	// Quantiles of the bounds on the distances from UTC and from group time.
	BoundP50NS     int64 `json:"bound_p50_ns"`
	BoundP99NS     int64 `json:"bound_p99_ns"`
	DeviationP50NS int64 `json:"deviation_p50_ns"`
	DeviationP99NS int64 `json:"deviation_p99_ns"`

	// Violation is the promise that a run broke, with its seed; empty if none. All
	// promises are checked after every event.
	Violation string `json:"violation,omitempty"`

	squares            float64
	bounds, deviations []int64
}

// Contained reports whether every bound held.
func (r *Result) Contained() bool { return r.Outside == 0 && r.Violation == "" }

const (
	// sampleEvery is how often the clocks are read, and how long a clock's rate stays
	// between two steps of its wander.
	sampleEvery = time.Second
	// settled is when errors begin to count, and for how long all clocks must be good to
	// be called synchronized.
	settled = time.Minute
	// granularity is how much a bound can lose by whole nanoseconds.
	granularity = 4
)

// Run measures the trial with some seeds, from 1 on. It calls each, if not nil, with
// every sample of the first. It ends early when ctx is done, with its error.
func (t *Trial) Run(ctx context.Context, seeds int, each func(*Sample)) (*Result, error) {
	r := &Result{Scenario: t.Name, Monotone: true, Within1msNS: new(int64), Within100usNS: new(int64)}
	for seed := uint64(1); seed <= uint64(seeds) && r.Violation == ""; seed++ {
		if err := t.measure(ctx, r, seed, each); err != nil {
			return nil, err
		}
		r.Seeds, each = r.Seeds+1, nil
	}
	if r.Timely > 0 {
		r.RMSNS = int64(math.Sqrt(r.squares / float64(r.Timely)))
	}
	r.BoundP50NS, r.BoundP99NS = quantiles(r.bounds)
	r.DeviationP50NS, r.DeviationP99NS = quantiles(r.deviations)
	return r, nil
}

// measure adds one seed.
func (t *Trial) measure(ctx context.Context, r *Result, seed uint64, each func(*Sample)) error {
	w, err := t.world(seed)
	if err != nil {
		return err
	}
	noise, rests := random.New(seed, random.Wander), make([]float64, nodes)
	good := [2]period{{limit: time.Millisecond}, {limit: 100 * time.Microsecond}}
	for w.Time() < t.Length {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.Run(sampleEvery); err != nil {
			v, broken := errors.AsType[*sim.Violation](err)
			if !broken {
				return err
			}
			r.Violation = v.Error()
			r.Monotone = v.Check != "monotone"
			return nil
		}
		worst := time.Duration(0)
		for i, n := range w.Nodes() {
			s := Sample{At: w.Time(), Node: i + 1, Reading: n.Clock()}
			s.Error = s.Time.Sub(w.UTC())
			r.add(&s)
			worst = max(worst, s.Error.Abs())
			if s.Status != clocksync.External {
				worst = math.MaxInt64
			}
			if each != nil {
				each(&s)
			}
			rests[i] += t.wander * noise.Normal()
			step := math.Round(rests[i])
			rests[i] -= step
			if err := w.Inject(fault.Fault{Kind: fault.Wander, Node: n.ID(), Rate: float64(n.Rate()) + step}); err != nil {
				return err
			}
		}
		for i := range good {
			good[i].add(w.Time(), worst)
		}
	}
	r.Within1msNS, r.Within100usNS = good[0].latest(r.Within1msNS), good[1].latest(r.Within100usNS)
	return nil
}

// add adds one sample.
func (r *Result) add(s *Sample) {
	r.Samples++
	if s.Deviation != clocksync.UnknownBound {
		r.deviations = append(r.deviations, int64(s.Deviation))
	}
	if s.UTCBound != clocksync.UnknownBound {
		r.Bounded++
		r.bounds = append(r.bounds, int64(s.UTCBound))
		if s.Error.Abs() > s.UTCBound+granularity {
			r.Outside++
		}
	}
	if s.At > settled {
		r.Timely++
		r.squares += float64(s.Error) * float64(s.Error)
		r.WorstNS = max(r.WorstNS, int64(s.Error.Abs()))
	}
}

// period searches for the first period in which all clocks are good for long enough.
type period struct {
	limit, since time.Duration
	good, found  bool
}

func (p *period) add(now, worst time.Duration) {
	switch {
	case p.found:
	case worst > p.limit:
		p.good = false
	case !p.good:
		p.good, p.since = true, now
	default:
		p.found = now-p.since >= settled
	}
}

// latest returns the later of two starts, or nil if one does not exist.
func (p *period) latest(other *int64) *int64 {
	if !p.found || other == nil {
		return nil
	}
	return new(max(*other, int64(p.since)))
}

// quantiles returns the median and the 99th percentile.
func quantiles(all []int64) (p50, p99 int64) {
	if len(all) == 0 {
		return 0, 0
	}
	slices.Sort(all)
	return all[len(all)/2], all[len(all)*99/100]
}
