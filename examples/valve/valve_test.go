package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/sim"
	"github.com/failaware/failaware/timed"
)

const nodes = 5

// valves runs a valve on each simulated node, and checks after every event that at most
// one is open. A careless valve believes what it was told when it began to lead.
func valves(careless bool) func(*sim.World) sim.App {
	return func(w *sim.World) sim.App {
		all := map[*sim.Node]*valve{}
		return sim.App{
			Start: func(n *sim.Node) sim.Handlers {
				leads := func() bool { return n.Support().Len() > nodes/2 }
				v := &valve{leads: leads, wanted: true}
				told := false
				if careless {
					v.leads = func() bool { return told }
				}
				all[n] = v
				return sim.Handlers{
					Leader: func(bool, timed.NodeID) { told = leads() },
					Stop:   func() { delete(all, n) },
				}
			},
			Invariants: []sim.Invariant{{Name: "one valve", Check: func() error {
				var open timed.Set
				for n, v := range all {
					if v.open() {
						open.Add(n.ID())
					}
				}
				if open.Len() > 1 {
					return fmt.Errorf("the valves of %v are open", open)
				}
				return nil
			}}},
		}
	}
}

// Sixty hostile worlds, with partitions, stopped processes, suspended machines and
// drifting clocks. A world that breaks the promise would be shrunk and kept.
func TestOneValve(t *testing.T) {
	sim.Test(t, sim.Campaign{Options: sim.Options{Nodes: nodes, App: valves(false)}, Seeds: 60})
}

// The test finds the mistake that it is for.
func TestTheCarelessValveIsFound(t *testing.T) {
	_, violation, err := sim.Campaign{Options: sim.Options{Nodes: nodes, App: valves(true)}, Seeds: 1000}.Run(t.Context())
	require.NoError(t, err)
	require.NotNil(t, violation)
	require.Equal(t, "one valve", violation.Check)
	t.Log(violation)
}
