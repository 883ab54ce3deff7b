package sim_test

import (
	"context"
	"fmt"
	"time"

	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/sim"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// A scheduler runs a long job in pieces, on the one leader that more than half of
// the nodes support. The first version asks only once whether it is that leader.
type scheduler struct {
	node    *sim.Node
	careful bool
	busy    bool // with the job
}

const (
	nodes  = 5
	pieces = 20
)

func (s *scheduler) elected() bool { return s.node.Support().Len() > nodes/2 }

// works reports whether the scheduler would do a piece of the job at this instant.
func (s *scheduler) works() bool {
	if s.careful {
		return s.busy && s.elected() // the clock says whether that still holds
	}
	return s.busy
}

func (s *scheduler) begin() {
	if s.elected() && !s.busy {
		s.busy = true
		s.piece(pieces)
	}
}

func (s *scheduler) piece(left int) {
	if left == 0 || !s.works() {
		s.busy = false
		s.node.After(time.Second, s.begin) // the next run of the job
		return
	}
	s.node.After(50*time.Millisecond, func() { s.piece(left - 1) })
}

// schedulers is the service as the simulator runs it, with what it promises.
func schedulers(careful bool) func(*sim.World) sim.App {
	return func(w *sim.World) sim.App {
		running := map[*sim.Node]*scheduler{}
		return sim.App{
			Start: func(n *sim.Node) sim.Handlers {
				s := &scheduler{node: n, careful: careful}
				running[n] = s
				return sim.Handlers{
					Leader: func(bool, timed.NodeID) { s.begin() },
					Stop:   func() { delete(running, n) },
				}
			},
			Invariants: []sim.Invariant{{Name: "one worker", Check: func() error {
				var at timed.Set
				for _, n := range w.Nodes() {
					if s := running[n]; s != nil && s.works() {
						at.Add(n.ID())
					}
				}
				if at.Len() > 1 {
					return fmt.Errorf("nodes %v work on the job", at)
				}
				return nil
			}}},
		}
	}
}

// A campaign finds the scheduler that asks only once, shrinks what led there to
// the faults that matter, and passes when the scheduler asks before each piece.
// In a test, [sim.Test] does all of it.
func Example() {
	ctx := context.Background()
	opt := sim.Options{Nodes: nodes, App: schedulers(false)}
	_, violation, err := sim.Campaign{Options: opt, Seeds: 1000}.Run(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Println("found:", violation.Check)

	c, err := sim.CaseOf(violation.Seed, opt)
	if err != nil {
		panic(err)
	}
	before := len(c.Schedule.Faults)
	c, _, err = sim.Shrink(ctx, c, sim.ShrinkOptions{})
	if err != nil {
		panic(err)
	}
	fmt.Println("faults:", before, "before,", len(c.Schedule.Faults), "after")
	for _, f := range c.Schedule.Faults {
		fmt.Println("  ", f)
	}

	opt.App = schedulers(true)
	opt.Duration = 3 * time.Second
	tally, violation, err := sim.Campaign{Options: opt, Seeds: 200}.Run(ctx)
	fmt.Println("careful:", tally.Seeds, "seeds, broken:", violation != nil, err)
	// Output:
	// found: one worker
	// faults: 79 before, 2 after
	//    6s suspend 5 for 154.580129ms
	//    6.7s split {3 4 5} {1 2}
	// careful: 200 seeds, broken: false <nil>
}

// Faults can be scripted: a network splits and merges again, and the nodes are
// told.
func ExampleWorld_Inject() {
	w, err := sim.New(1, sim.Options{Nodes: 3, Calm: true, RankBy: leader.ByID, App: func(*sim.World) sim.App {
		return sim.App{Start: func(n *sim.Node) sim.Handlers {
			return sim.Handlers{
				Leader: func(leads bool, follows timed.NodeID) {
					if n.ID() == 3 {
						fmt.Println("  node 3 leads:", leads, "- follows:", follows)
					}
				},
				View: func(v *membership.View, upToDate bool) {
					if n.ID() == 3 {
						fmt.Println("  node 3 is in a view of", v.Set, "- up to date:", upToDate)
					}
				},
			}
		}}
	}})
	if err != nil {
		panic(err)
	}
	until := func(what string, leaders timed.Set) {
		fmt.Println(what)
		if err := w.RunUntil(10*time.Second, func() bool { return w.Leaders() == leaders }); err != nil {
			panic(err)
		}
		if err := w.Run(time.Second); err != nil {
			panic(err)
		}
	}
	until("start", timed.SetOf(1))
	if err := w.Inject(fault.Fault{Kind: fault.Split, Blocks: []timed.Set{timed.SetOf(1, 2), timed.SetOf(3)}}); err != nil {
		panic(err)
	}
	until("split", timed.SetOf(1, 3))
	w.Mend()
	until("merge", timed.SetOf(1))
	// Output:
	// start
	//   node 3 leads: false - follows: 1
	//   node 3 is in a view of {1 2 3} - up to date: true
	// split
	//   node 3 is in a view of {1 2 3} - up to date: false
	//   node 3 is in a view of {3} - up to date: true
	//   node 3 leads: true - follows: 3
	// merge
	//   node 3 is in a view of {3} - up to date: false
	//   node 3 leads: false - follows: 3
	//   node 3 leads: false - follows: none
	//   node 3 leads: false - follows: 1
	//   node 3 is in a view of {1 2 3} - up to date: true
}
