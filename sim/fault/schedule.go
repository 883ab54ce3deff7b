package fault

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/failaware/failaware/timed"
)

// Baseline has the delays of a world without faults. All are within the constants of the
// model.
type Baseline struct {
	MinDelay time.Duration `json:"min_delay"` // of every link; delays are uniform
	MaxDelay time.Duration `json:"max_delay"` // at most δ
	Lateness time.Duration `json:"lateness"`  // the largest scheduling delay of every process; at most σ
}

// Validate returns an error if the constants of the model do not allow the baseline.
func (b *Baseline) Validate(t timed.Timing) error {
	switch {
	case b.MinDelay < t.MinDelay:
		return fmt.Errorf("fault: least delay %v is below the MinDelay %v of the timing", b.MinDelay, t.MinDelay)
	case b.MaxDelay < b.MinDelay || b.MaxDelay > t.OneWayTimeout+time.Microsecond:
		return fmt.Errorf("fault: largest delay %v is outside [%v, %v]", b.MaxDelay, b.MinDelay, t.OneWayTimeout)
	case b.Lateness < 0 || b.Lateness > t.SchedulingDelay:
		return fmt.Errorf("fault: lateness %v is outside [0, %v]", b.Lateness, t.SchedulingDelay)
	}
	return nil
}

// Schedule has all external influences on a world.
type Schedule struct {
	Baseline Baseline
	Faults   []Fault  // in the order of time
	Traffic  *Traffic // nil without a broadcast
	Servers  *Servers // nil without external references of time
}

// Validate returns an error if no world with that many nodes can follow the schedule.
func (s *Schedule) Validate(nodes int, t timed.Timing) error {
	if err := s.Baseline.Validate(t); err != nil {
		return err
	}
	if s.Traffic != nil {
		if err := s.Traffic.Validate(); err != nil {
			return err
		}
	}
	if s.Servers != nil {
		if err := s.Servers.Validate(nodes); err != nil {
			return err
		}
	}
	for i := range s.Faults {
		if err := s.Faults[i].Validate(nodes); err != nil {
			return err
		}
		if i > 0 && s.Faults[i].At < s.Faults[i-1].At {
			return fmt.Errorf("fault: fault %d (%v) is before the one that precedes it", i+1, s.Faults[i])
		}
	}
	return nil
}

// Sort sorts faults by time. Simultaneous ones keep their order.
func Sort(faults []Fault) {
	slices.SortStableFunc(faults, func(a, b Fault) int { return cmp.Compare(a.At, b.At) })
}
