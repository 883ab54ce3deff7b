// Package clocktrial measures in the simulator how well clocks keep UTC: three nodes
// without random faults, whose group time follows some time servers. Several trials
// are those of chrony's simulation tests, as far as their subjects exist here.
package clocktrial

import (
	"fmt"
	"time"

	"github.com/failaware/failaware/sim"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// Trial is one kind of world.
type Trial struct {
	Name, About string
	Length      time.Duration

	ahead   time.Duration // of the wall clocks at the start
	rate    int64         // of node 1's clock, in parts per billion; those of the others are −1/2 and 1/4 of it
	wander  float64       // of each clock's rate: the standard deviation after a second, in parts per billion
	drift   timed.Drift   // ρ
	servers fault.Servers
	faults  []fault.Fault
}

// nodes is the number of nodes of every world.
const nodes = 3

const ms, us = time.Millisecond, time.Microsecond

// near returns a good server behind delays of 100 µs and an exponential 100 µs more,
// queried as nodes query NTP servers, with some changes.
func near(client timed.NodeID, changes ...func(*fault.Server)) fault.Server {
	s := fault.Server{Nodes: timed.SetOf(client), Every: 16 * time.Second, Burst: 4, MinDelay: 100 * us, Delay: 100 * us, Tail: 100 * us, Error: us}
	for _, change := range changes {
		change(&s)
	}
	return s
}

func one(changes ...func(*fault.Server)) fault.Servers {
	return fault.Servers{MinReferences: 1, List: []fault.Server{near(1, changes...)}}
}

// three returns servers of which a minority may lie, each with another client.
func three(change func(*fault.Server)) fault.Servers {
	return fault.Servers{MinReferences: 3, List: []fault.Server{near(1), near(2), near(3, change)}}
}

func lossy(s *fault.Server) { s.Loss = 1. / 3 }

// All returns the trials. The first is the default.
func All() []Trial {
	trials := []Trial{
		{Name: "default", About: "0.1 s and 100 ppm off, delays of 100 µs and an exponential 100 µs", Length: 10_000 * time.Second, servers: one()},
		{Name: "asymmetric-jitter", About: "an exponential 500 µs, 97 % of it on the way to the server",
			servers: one(func(s *fault.Server) { s.Tail, s.Asymmetry = 500*us, 0.94 })},
		{Name: "heavy-tails", About: "a Pareto distribution of shape 1.5 with a mean of 500 µs",
			servers: one(func(s *fault.Server) { s.Tail, s.Index = 500*us, 1/1.5 })},
		{Name: "packet-loss", About: "a third of all queries and replies is lost, and all replies of a second server",
			servers: fault.Servers{MinReferences: 1, List: []fault.Server{near(1, lossy), near(1, func(s *fault.Server) { s.Back = sim.MaxDuration })}}},
		{Name: "lossy-group", About: "besides, nodes lose a third of what they send each other, and 1 hears nothing of 3",
			servers: one(lossy), faults: []fault.Fault{{Kind: fault.Loss, Rate: 1. / 3}, {Kind: fault.Cut, Node: 3, Peer: 1}}},
		{Name: "source-step", About: "one of three servers steps by 0.1 s after half an hour",
			servers: three(func(s *fault.Server) { s.Shift, s.From, s.Until = 100*ms, 1800*time.Second, sim.MaxDuration })},
		{Name: "large-offset", About: "the wall clocks are off by 1000 s", ahead: 1000 * time.Second, servers: one()},
		{Name: "large-rate", About: "the clock is 200 ppm fast", rate: 200_000, drift: 220_000, servers: one()},
		{Name: "temperature", About: "each clock's rate moves by 60 ppm and back, within 40 minutes", rate: 40_000, servers: one(),
			faults: []fault.Fault{warmer(1, 60_000, 10), warmer(3, 60_000, 12), warmer(2, -60_000, 15)}},
		{Name: "falseticker", About: "one of three servers is off by 10 s",
			servers: three(func(s *fault.Server) { s.Shift, s.Until = 10*time.Second, sim.MaxDuration })},
		{Name: "holdover", About: "the server is silent from the 15th to the 30th minute",
			servers: one(func(s *fault.Server) { s.Silent, s.Back = 15*time.Minute, 30*time.Minute })},
	}
	for i := range trials {
		t := &trials[i]
		if t.Length == 0 {
			t.Length = time.Hour
		}
		if t.ahead == 0 {
			t.ahead = 100 * ms
		}
		if t.rate == 0 {
			t.rate = 100_000
		}
		if t.drift == 0 {
			t.drift = 110_000
		}
		t.wander = 1
	}
	return trials
}

// warmer changes a clock's rate by so many parts per billion, from a minute on.
func warmer(id timed.NodeID, ppb float64, minute time.Duration) fault.Fault {
	return fault.Fault{Kind: fault.Temperature, Node: id, Rate: ppb, At: minute * time.Minute, For: 40 * time.Minute}
}

// Find returns the trial with a name.
func Find(name string) (Trial, error) {
	for _, t := range All() {
		if t.Name == name {
			return t, nil
		}
	}
	return Trial{}, fmt.Errorf("there is no trial of clocks %q", name)
}

// world returns the world of a seed.
func (t *Trial) world(seed uint64) (*sim.World, error) {
	timing := timed.LAN()
	timing.MaxDrift, timing.OneWayTimeout = t.drift, 4*ms
	servers := t.servers
	servers.Ahead = t.ahead
	rate := func(id timed.NodeID, ppb int64) fault.Fault {
		return fault.Fault{Kind: fault.Wander, Node: id, Rate: float64(ppb)}
	}
	faults := append([]fault.Fault{rate(1, t.rate), rate(2, -t.rate/2), rate(3, t.rate/4)}, t.faults...)
	c, err := sim.CaseOf(seed, sim.Options{Nodes: nodes, Duration: t.Length, Timing: timing, Calm: true, Servers: &servers, Faults: faults})
	if err != nil {
		return nil, err
	}
	c.Schedule.Baseline = fault.Baseline{MinDelay: 50 * us, MaxDelay: 150 * us, Lateness: 100 * us}
	return c.World()
}
