package lab

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Plan has the algorithms, scenarios and seeds of [Compare].
type Plan struct {
	Algorithms []Algorithm
	Scenarios  []Scenario
	First      uint64 // the first seed
	Seeds      int    // 1 to MaxSeeds
	Jobs       int    // runs side by side; below 1 counts as 1

	Progress func(rows, of int) // if not nil, called after each row
}

// MaxSeeds bounds the seeds of a plan.
const MaxSeeds = 1_000_000

// Row is one algorithm in one scenario: the sums over all seeds.
type Row struct {
	Algorithm, Scenario string
	Seeds               int
	Specs               []Tally // in the order of [Specs]
	Measure
}

// Tally has the verdicts of a specification on the runs of a row.
type Tally struct {
	Spec     SpecName
	Promised bool          // by the algorithm, in any scenario
	Tested   int           // runs in which its premise held
	Violated int           // runs that violated it
	First    uint64        // the first seed that violated it; 0: none
	At       time.Duration // in the first of them
	Detail   string
}

// Compare runs all algorithms in all scenarios. The rows are in the order of scenarios and,
// within each, of algorithms. They do not depend on the number of jobs. When ctx is done,
// Compare returns the complete rows and the context's error.
func Compare(ctx context.Context, p Plan) ([]Row, error) {
	if p.Seeds < 1 || p.Seeds > MaxSeeds {
		return nil, fmt.Errorf("lab: %d seeds: must be 1 to %d", p.Seeds, MaxSeeds)
	}
	var rows []Row
	for _, s := range p.Scenarios {
		for _, a := range p.Algorithms {
			outcomes, err := p.runs(ctx, a, s)
			if err != nil {
				return rows, err
			}
			rows = append(rows, p.row(&a, &s, outcomes))
			if p.Progress != nil {
				p.Progress(len(rows), len(p.Scenarios)*len(p.Algorithms))
			}
		}
	}
	return rows, nil
}

// runs runs all seeds of a row.
func (p *Plan) runs(ctx context.Context, a Algorithm, s Scenario) ([]Outcome, error) {
	outcomes, errs := make([]Outcome, p.Seeds), make([]error, p.Seeds)
	seeds := make(chan int)
	var all sync.WaitGroup
	for range min(max(p.Jobs, 1), p.Seeds) {
		all.Go(func() {
			for i := range seeds {
				outcomes[i], errs[i] = Run(a, s, p.First+uint64(i))
			}
		})
	}
	for i := 0; i < p.Seeds && ctx.Err() == nil; i++ {
		seeds <- i
	}
	close(seeds)
	all.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("seed %d: %w", p.First+uint64(i), err)
		}
	}
	return outcomes, nil
}

func (p *Plan) row(a *Algorithm, s *Scenario, outcomes []Outcome) Row {
	row := Row{Algorithm: a.Name, Scenario: s.Name, Seeds: p.Seeds}
	for _, name := range Specs() {
		row.Specs = append(row.Specs, Tally{Spec: name, Promised: a.promises(name)})
	}
	for i := range outcomes {
		o := &outcomes[i]
		row.add(&o.Measure)
		for j, v := range o.Verdicts {
			t := &row.Specs[j]
			if v.Tested {
				t.Tested++
			}
			if v.Err == nil {
				continue
			}
			if t.Violated++; t.Violated == 1 {
				t.First, t.At, t.Detail = p.First+uint64(i), v.At, v.Err.Error()
			}
		}
	}
	return row
}

// MessagesPerElection returns the mean number of the algorithm's messages in an election, or
// 0 if there was none.
func (m *Measure) MessagesPerElection() float64 {
	return ratio(float64(m.Electing), float64(m.Elections))
}

// TimeToElect returns the mean time from a change of connectivity until all processes were
// led, or 0 if there was no election.
func (m *Measure) TimeToElect() time.Duration {
	return time.Duration(ratio(float64(m.Elect), float64(m.Elections)))
}

// ChangesPerHour returns how often per hour a process began to lead.
func (m *Measure) ChangesPerHour() float64 { return ratio(float64(m.Changes), m.Simulated.Hours()) }

// LedShare returns the share of process-time that was led.
func (m *Measure) LedShare() float64 { return ratio(float64(m.Led), float64(m.Up)) }

// TwoShare returns the share of time with two leaders that had been connected with each
// other for longer than the time in which a Δ-partition must agree on one.
func (m *Measure) TwoShare() float64 { return ratio(float64(m.Two), float64(m.Simulated)) }

// TwoAnyShare returns the share of time with two connected leaders, even if they were
// connected only recently, as after a merger.
func (m *Measure) TwoAnyShare() float64 { return ratio(float64(m.TwoAny), float64(m.Simulated)) }

// MessagesPerSecond returns the rate of all messages, including those of failure detectors.
func (m *Measure) MessagesPerSecond() float64 {
	return ratio(float64(m.Sent), m.Simulated.Seconds())
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
