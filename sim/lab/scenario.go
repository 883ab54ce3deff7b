package lab

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// Scenario is the conditions of a world for any algorithm. The smaller an id, the better
// its process: node 1 is the best.
type Scenario struct {
	Name     string
	Title    string
	Nodes    int
	Duration time.Duration
	// Faults returns the scripted faults. The state of d depends on the seed alone.
	Faults func(d *rand.Rand) []fault.Fault
	// Random adds the faults that the simulator draws for the seed.
	Random bool
	// Callers call for an election at the time Call, unless the algorithm is the
	// platform's own.
	Callers timed.Set
	Call    time.Duration
}

// warmup is the time in which all processes start, get a leader, and become quiet.
const warmup = 10 * time.Second

// FindScenarios returns the scenarios of a list of names separated by commas, or
// all of them for "all".
func FindScenarios(names string) ([]Scenario, error) {
	all := Scenarios()
	return find("scenario", names, all, func(s *Scenario) string { return s.Name })
}

// Scenarios returns all scenarios, in the order of tables.
func Scenarios() []Scenario {
	blocks := func(sets ...timed.Set) []timed.Set { return sets }
	ids := timed.SetOf
	always := func(faults ...fault.Fault) func(*rand.Rand) []fault.Fault {
		return func(*rand.Rand) []fault.Fault { return slices.Clone(faults) }
	}
	both := func(kind fault.Kind, p, q timed.NodeID, extra, at, span time.Duration) []fault.Fault {
		return []fault.Fault{{At: at, For: span, Kind: kind, Node: p, Peer: q, Extra: extra}, {At: at, For: span, Kind: kind, Node: q, Peer: p, Extra: extra}}
	}
	const from, span, end = warmup, 20 * time.Second, time.Minute
	return []Scenario{
		{Name: "calm", Title: "nothing goes wrong", Nodes: 8, Duration: end, Faults: always()},
		{Name: "crash", Title: "the coordinator crashes, and comes back", Nodes: 8, Duration: end, Faults: crashes},
		{Name: "best-initiator", Title: "the coordinator crashes, and the best of the others calls for the election", Nodes: 8, Duration: end,
			Faults: always(fault.Fault{At: from, Kind: fault.Crash, Node: 1}), Callers: ids(2), Call: from},
		{Name: "worst-initiators", Title: "the coordinator crashes, and all others call for an election at once", Nodes: 8, Duration: end,
			Faults: always(fault.Fault{At: from, Kind: fault.Crash, Node: 1}), Callers: ids(3, 4, 5, 6, 7, 8), Call: from},
		{Name: "stoller", Title: "1–2–3, not transitive: node 1 comes back without its link to node 3 (Stoller)", Nodes: 3, Duration: end,
			Faults: func(*rand.Rand) []fault.Fault {
				return append([]fault.Fault{{At: from, For: 10 * time.Second, Kind: fault.Crash, Node: 1}}, both(fault.Cut, 1, 3, 0, from+5*time.Second, 0)...)
			}},
		{Name: "trio-cut", Title: "the link between two of three fails (Fetzer and Cristian)", Nodes: 3, Duration: end,
			Faults: func(*rand.Rand) []fault.Fault { return both(fault.Cut, 1, 3, 0, from, span) }},
		{Name: "trio-overload", Title: "the link between two of three is overloaded (Fetzer and Cristian)", Nodes: 3, Duration: end,
			Faults: func(*rand.Rand) []fault.Fault { return both(fault.Slow, 1, 3, overload, from, span) }},
		{Name: "bridge", Title: "the bridge between two LANs is overloaded", Nodes: 8, Duration: end,
			Faults: always(fault.Fault{At: from, For: span, Kind: fault.SlowSplit, Blocks: blocks(ids(1, 2, 3, 4), ids(5, 6, 7, 8)), Extra: overload})},
		{Name: "one-way", Title: "the link from the coordinator to one process fails in one direction", Nodes: 5, Duration: end,
			Faults: always(fault.Fault{At: from, For: span, Kind: fault.Cut, Node: 1, Peer: 3})},
		{Name: "flapping", Title: "a link of the coordinator comes and goes", Nodes: 5, Duration: end,
			Faults: func(*rand.Rand) []fault.Fault { return both(fault.Flap, 1, 3, 160*time.Millisecond, from, span) }},
		{Name: "slow-process", Title: "the coordinator's process acts late", Nodes: 5, Duration: end,
			Faults: always(fault.Fault{At: from, For: span, Kind: fault.SlowProcess, Node: 1, Extra: 200 * time.Millisecond})},
		{Name: "restart-storm", Title: "processes crash and restart all the time", Nodes: 8, Duration: end, Faults: storm},
		{Name: "partition", Title: "a partition, and the merger", Nodes: 8, Duration: end,
			Faults: always(fault.Fault{At: from, For: span, Kind: fault.Split, Blocks: blocks(ids(1, 2, 3), ids(4, 5, 6, 7, 8))})},
		{Name: "random", Title: "random faults of all kinds, and still times between them", Nodes: 6, Duration: end, Random: true,
			Faults: always(fault.Fault{At: end - 8*time.Second, For: 10 * time.Second, Kind: fault.Heal})},
	}
}

// overload makes every message take longer than Δ.
const overload = 30 * time.Millisecond

// crashes crashes the coordinator at a random time, so that crashes are not synchronized with
// the periods of processes, and again soon after it came back.
func crashes(d *rand.Rand) []fault.Fault {
	at := warmup + time.Duration(d.Int64N(int64(time.Second)))
	return []fault.Fault{
		{At: at, For: 10 * time.Second, Kind: fault.Crash, Node: 1},
		{At: at + 20*time.Second, For: 300 * time.Millisecond, Kind: fault.Crash, Node: 1},
		{At: at + 30*time.Second, For: 10 * time.Second, Kind: fault.Crash, Node: 1},
	}
}

// storm crashes one process after the other for half a minute.
func storm(d *rand.Rand) (out []fault.Fault) {
	for at := warmup; at < 40*time.Second; at += time.Duration(d.Int64N(int64(800 * time.Millisecond))) {
		out = append(out, fault.Fault{At: at, For: time.Duration(50+d.Int64N(950)) * time.Millisecond, Kind: fault.Crash, Node: timed.NodeID(1 + d.IntN(8))})
	}
	return out
}
