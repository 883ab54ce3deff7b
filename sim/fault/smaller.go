package fault

import (
	"slices"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/timed"
)

// renumbered returns the id of a node after another one is removed.
func renumbered(id, removed timed.NodeID) timed.NodeID {
	if id > removed {
		id--
	}
	return id
}

func renumberedSet(s timed.Set, removed timed.NodeID) (out timed.Set) {
	for id := range s.Without(removed).All() {
		out.Add(renumbered(id, removed))
	}
	return out
}

// Without returns the schedule of a world from which a node is removed, with the
// faults that name it and the servers that only it queries. The ids above it move
// down.
func (s Schedule) Without(id timed.NodeID) Schedule {
	faults := s.Faults
	s.Faults = nil
	for _, f := range faults {
		if f.Node != id && f.Peer != id {
			s.Faults = append(s.Faults, f.without(id))
		}
	}
	if s.Traffic != nil {
		t := *s.Traffic
		t.Config.Quorum = Majority(renumberedSet(quorumMembers(t.Config.Quorum), id))
		s.Traffic = &t
	}
	if s.Servers != nil {
		x := *s.Servers
		x.List = nil
		for _, server := range s.Servers.List {
			if server.Nodes = renumberedSet(server.Nodes, id); !server.Nodes.Empty() {
				x.List = append(x.List, server)
			}
		}
		s.Servers = &x
	}
	return s
}

// without returns a fault of other nodes after a node is removed.
func (f Fault) without(id timed.NodeID) Fault {
	f.Node, f.Peer, f.Down = renumbered(f.Node, id), renumbered(f.Peer, id), renumberedSet(f.Down, id)
	blocks := f.Blocks
	f.Blocks = nil
	for _, b := range blocks {
		if b = renumberedSet(b, id); !b.Empty() {
			f.Blocks = append(f.Blocks, b)
		}
	}
	return f
}

// Simplifications make a fault simpler: certain instead of likely, no bursts, and
// shorter or rounder times.
var Simplifications = []func(*Fault){
	func(f *Fault) {
		if f.Kind.OfLinks() && f.Rate > 0 {
			f.Rate = 1
		}
	},
	func(f *Fault) { f.Size = 0 },
	func(f *Fault) {
		if f.Kind != Heal {
			f.For /= 2
		}
	},
	func(f *Fault) { f.For = round(f.For, 1) },
	func(f *Fault) { f.At = round(f.At, 1) },
	func(f *Fault) { f.At = round(f.At, 2) },
	func(f *Fault) { f.At = round(f.At, 3) },
	func(f *Fault) { f.Extra = round(f.Extra, 1) },
	func(f *Fault) { f.Down = timed.Set{} },
}

// Changed returns the fault after a change, and whether it differs.
func (f Fault) Changed(by func(*Fault)) (Fault, bool) {
	g := f
	by(&g)
	return g, f.At != g.At || f.For != g.For || f.Rate != g.Rate || f.Extra != g.Extra || f.Size != g.Size || f.Down != g.Down
}

// Plainer returns the baselines that are simpler: punctual processes, uniform delays,
// round delays.
func (b Baseline) Plainer() (out []Baseline) {
	punctual, uniform, rounded := b, b, b
	punctual.Lateness = 0
	uniform.MinDelay = uniform.MaxDelay
	rounded.MinDelay, rounded.MaxDelay = round(b.MinDelay, 1), round(b.MaxDelay, 1)
	return []Baseline{punctual, uniform, rounded}
}

// round keeps the leading decimal digits of a time.
func round(d time.Duration, digits int) time.Duration {
	limit := time.Duration(1)
	for range digits {
		limit *= 10
	}
	unit := time.Duration(1)
	for d/unit >= limit {
		unit *= 10
	}
	return d / unit * unit
}

// TrafficSimplifications make traffic simpler, one property at a time. Each reports whether it
// changed anything. Fewer kinds of messages come first: the rate changes when
// everything else happens.
var TrafficSimplifications = []func(*Traffic) bool{
	func(t *Traffic) bool { return t.fewerOptions(0, len(t.Mix)/2) },
	func(t *Traffic) bool { return t.fewerOptions(len(t.Mix)/2, len(t.Mix)) },
	func(t *Traffic) bool { return t.fewerOptions(len(t.Mix)-1, len(t.Mix)) },
	func(t *Traffic) bool {
		had := t.Config.Quorum != nil
		t.Config.Quorum = nil
		return had
	},
	func(t *Traffic) bool { had := t.WrongWalls; t.WrongWalls = 0; return had > 0 },
	func(t *Traffic) bool { had := t.Hush; t.Hush = false; return had },
	func(t *Traffic) bool { return t.smaller(minLargest) },
	func(t *Traffic) bool { return t.smaller(t.Largest / 2) },
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

func (t *Traffic) smaller(largest int) bool {
	if largest < minLargest || t.Largest <= largest {
		return false
	}
	t.Largest = largest
	return true
}

// raise raises a limit to a value at which it does not matter.
func raise(limit *int, to int) bool {
	if *limit >= to {
		return false
	}
	*limit = to
	return true
}
