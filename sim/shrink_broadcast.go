package sim

import (
	"slices"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/timed"
)

// plainerTraffic makes traffic simpler, one thing at a time. Each reports whether
// it changed something. Fewer kinds of messages come first: the rate changes when
// everything else happens.
var plainerTraffic = []func(*Traffic) bool{
	func(t *Traffic) bool { return t.fewerOptions(0, len(t.Mix)/2) },
	func(t *Traffic) bool { return t.fewerOptions(len(t.Mix)/2, len(t.Mix)) },
	func(t *Traffic) bool { return t.fewerOptions(len(t.Mix)-1, len(t.Mix)) },
	(*Traffic).anyView,
	func(t *Traffic) bool { had := t.Hush; t.Hush = false; return had },
	func(t *Traffic) bool { return lower(&t.Largest, leastTraffic) },
	func(t *Traffic) bool { return lower(&t.Largest, t.Largest/2) },
	func(t *Traffic) bool { return raise(&t.Config.Window, broadcast.DefaultWindow) },
	func(t *Traffic) bool { return raise(&t.Config.MaxMessages, broadcast.DefaultMaxMessages) },
	func(t *Traffic) bool { return raise(&t.Config.Backlog, broadcast.DefaultBacklog) },
	func(t *Traffic) bool { t.Rate /= 2; return t.Rate > 0 },
}

// fewerOptions leaves a part of the mix out.
func (t *Traffic) fewerOptions(from, to int) bool {
	if from >= to || to-from == len(t.Mix) {
		return false
	}
	t.Mix = slices.Delete(slices.Clone(t.Mix), from, to)
	return true
}

// anyView lets messages be ordered in any view.
func (t *Traffic) anyView() bool {
	had := !t.Config.RequireQuorum.Empty()
	t.Config.RequireQuorum = timed.Set{}
	return had
}

// lower and raise move a limit to where it is of no concern.
func lower(v *int, to int) bool {
	if to < leastTraffic || *v <= to {
		return false
	}
	*v = to
	return true
}

func raise(v *int, to int) bool {
	if *v >= to {
		return false
	}
	*v = to
	return true
}

// simplerTraffic tries simpler traffic, each change for as long as it still fails.
func (s *shrinker) simplerTraffic() {
	for _, change := range plainerTraffic {
		for s.best.Schedule.Traffic != nil && s.goesOn() {
			t := *s.best.Schedule.Traffic
			if !change(&t) {
				break
			}
			c := s.best
			c.Schedule.Traffic = &t
			if !s.try(c) {
				break
			}
		}
	}
}

// without returns the traffic of a world that lacks a node.
func (t *Traffic) without(id timed.NodeID) *Traffic {
	if t == nil {
		return nil
	}
	less := *t
	less.Config.RequireQuorum = without(t.Config.RequireQuorum, id)
	return &less
}
