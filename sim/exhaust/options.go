package exhaust

import (
	"fmt"
	"slices"
	"time"

	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// Options choose the behaviours to explore. The zero value of a field means its default.
type Options struct {
	// Nodes is the number of nodes, 1 to MaxNodes. Default 2.
	Nodes int `json:"nodes"`
	// Depth is for how many messages on a path every fate is explored, 1 to
	// MaxDepth; those after are all in time. Default 8.
	Depth int `json:"depth"`
	// Faults bounds how many messages on a path are not in time; 0 means that
	// all may be. With a bound, far greater depths can be exhausted.
	Faults int `json:"faults,omitempty"`
	// Crashes and Stalls bound how often processes crash (and start again at
	// once, with nothing but their clock) and stall on a path.
	Crashes int `json:"crashes,omitempty"`
	Stalls  int `json:"stalls,omitempty"`
	// Resigns bounds how often a leader resigns on a path.
	Resigns int `json:"resigns,omitempty"`
	// VeryLate adds a fourth fate: a message arrives after every lease and
	// after Expires.
	VeryLate bool `json:"very_late,omitempty"`
	// Starts are the situations to start from. Default all.
	Starts []Start `json:"starts,omitempty"`
	// Rates chooses the combinations of clock rates. Default RatesOpposed.
	Rates Rates `json:"rates,omitempty"`
	// Timing are the constants of the model. Default [timed.LAN].
	Timing timed.Timing  `json:"timing"`
	Mode   leader.Mode   `json:"mode"`
	RankBy leader.RankBy `json:"rank_by"`
	// States is how many distinct states to explore at most. Default 2,000,000;
	// each takes about a kilobyte while it waits.
	States int `json:"states,omitempty"`
	// NoSuffix leaves out that every leaf, and with Faults every state after the
	// last fault, goes on calmly until it is at rest.
	NoSuffix bool `json:"no_suffix,omitempty"`
	// Progress, if not nil, is called from Run's goroutine now and then.
	Progress func(Progress) `json:"-"`
}

// Limits of the options.
const (
	MaxNodes  = 4
	MaxDepth  = 200
	MaxBudget = 100 // of Faults, Crashes, Stalls and Resigns
	MaxStates = 1 << 31

	defaultNodes  = 2
	defaultDepth  = 8
	defaultStates = 2_000_000
)

// Start is a situation to start from.
type Start string

// The situations.
const (
	// Cold: all nodes start at once, and wait until they may vote.
	Cold Start = "cold"
	// Led: a leader that all support, and one up-to-date view of all.
	Led Start = "led"
	// Apart: each node leads itself, and they are about to meet.
	Apart Start = "apart"
	// Split: the last node leads itself, the others are led as one group, and
	// they are about to meet. With two nodes this is Apart.
	Split Start = "split"
	// Challenged: as Split, but it is the first node that is alone, so that with
	// rank "id" it deposes the others' leader.
	Challenged Start = "challenged"
)

// Starts are all situations.
var Starts = []Start{Cold, Led, Apart, Split, Challenged}

// Rates names a set of combinations of clock rates.
type Rates string

// The combinations.
const (
	// Nominal: all clocks run true.
	Nominal Rates = "nominal"
	// Opposed: every other clock is as fast as ρ allows and the rest as slow,
	// and the other way round.
	Opposed Rates = "opposed"
	// Every: each clock fast, true or slow, in all 3ⁿ combinations.
	Every Rates = "every"
)

// Progress is the progress of a search.
type Progress struct {
	Depth   int // messages whose fate was chosen, of the states now explored
	States  int // distinct ones that were found
	Waiting int // states that wait to be explored
}

func (o Options) withDefaults() Options {
	if o.Nodes == 0 {
		o.Nodes = defaultNodes
	}
	if o.Depth == 0 {
		o.Depth = defaultDepth
	}
	if len(o.Starts) == 0 {
		o.Starts = Starts
		if o.Nodes <= 2 {
			o.Starts = []Start{Cold, Led, Apart}
		}
	}
	if o.Rates == "" {
		o.Rates = Opposed
	}
	if o.Timing == (timed.Timing{}) {
		o.Timing = timed.LAN()
	}
	if o.States == 0 {
		o.States = defaultStates
	}
	return o
}

// Validate reports options that cannot be explored.
func (o Options) Validate() error {
	o = o.withDefaults()
	for _, f := range []struct {
		name        string
		n           int
		least, most int64
	}{
		{"Nodes", o.Nodes, 1, MaxNodes}, {"Depth", o.Depth, 1, MaxDepth}, {"Faults", o.Faults, 0, MaxBudget},
		{"Crashes", o.Crashes, 0, MaxBudget}, {"Stalls", o.Stalls, 0, MaxBudget}, {"Resigns", o.Resigns, 0, MaxBudget}, {"States", o.States, 1, MaxStates},
	} {
		if n := int64(f.n); n < f.least || n > f.most {
			return fmt.Errorf("exhaust: %s: %d is outside [%d, %d]", f.name, f.n, f.least, f.most)
		}
	}
	for _, s := range o.Starts {
		if _, err := ParseStart(string(s)); err != nil {
			return fmt.Errorf("exhaust: Starts: %w", err)
		}
	}
	if _, err := ParseRates(string(o.Rates)); err != nil {
		return fmt.Errorf("exhaust: Rates: %w", err)
	}
	if _, err := o.Timing.Validate(); err != nil {
		return fmt.Errorf("exhaust: Timing: %w", err)
	}
	if _, err := grainOf(o.Timing); err != nil {
		return fmt.Errorf("exhaust: Timing: %w", err)
	}
	return nil
}

// ParseStart reads the name of a situation.
func ParseStart(s string) (Start, error) {
	if !slices.Contains(Starts, Start(s)) {
		return "", fmt.Errorf("start %q is none of cold, led, apart, split, challenged", s)
	}
	return Start(s), nil
}

// ParseRates reads the name of the combinations of clock rates.
func ParseRates(s string) (Rates, error) {
	switch r := Rates(s); r {
	case Nominal, Opposed, Every:
		return r, nil
	}
	return "", fmt.Errorf("rates %q are none of nominal, opposed, every", s)
}

// grainOf returns how long a tick of the model is. Everything happens at ticks,
// so that there are few times, but many enough: a message in time takes one
// tick, which is far below δ, and a process acts less than one tick, which is
// at most σ, after it should.
func grainOf(t timed.Timing) (time.Duration, error) {
	grain := min(t.FastThreshold/ticksInDelta, t.SchedulingDelay, t.OneWayTimeout)
	// Clocks at rates that are whole nanoseconds a tick have no remainders.
	for _, round := range []time.Duration{time.Millisecond, 100 * time.Microsecond, 10 * time.Microsecond, time.Microsecond} {
		if grain >= round {
			return grain / round * round, nil
		}
	}
	return 0, fmt.Errorf("a tenth of FastThreshold, SchedulingDelay and OneWayTimeout must all be at least %v", time.Microsecond)
}

const ticksInDelta = 10
