package sim

import (
	"fmt"
	"time"

	"github.com/failaware/failaware/timed"
)

// ClockTrial is a world in which it is measured how well clocks keep UTC: three nodes
// without random faults, whose group time follows some time servers. Several are those
// of the simulation tests of chrony, as far as what they are about exists here.
type ClockTrial struct {
	Name, About string
	Length      time.Duration

	ahead   time.Duration // of the wall clocks at the start
	rate    int64         // of node 1's clock; those of the others are −1/2 and 1/4 of it
	wander  float64       // of each clock's rate: the standard deviation after a second, in parts per billion
	drift   timed.Drift   // ρ
	servers Servers
	faults  []Fault
}

// trialNodes is how many nodes the worlds have.
const trialNodes = 3

const ms, us = time.Millisecond, time.Microsecond

// near is a good server behind delays of 100 µs and an exponential 100 µs more, asked as
// nodes ask NTP servers.
func near(nodes ...timed.NodeID) Server {
	return Server{Nodes: timed.SetOf(nodes...), Every: 16 * time.Second, Burst: 4, MinDelay: 100 * us, Delay: 100 * us, Tail: 100 * us, Error: us}
}

// but returns the server with a change.
func (s Server) but(change func(*Server)) Server {
	change(&s)
	return s
}

func one(s Server) Servers { return Servers{MinReferences: 1, List: []Server{s}} }

// three returns servers of which a minority may lie, each asked by another node.
func three(change func(*Server)) Servers {
	return Servers{MinReferences: 3, List: []Server{near(1), near(2), near(3).but(change)}}
}

// ClockTrials returns all of them; the first is the default.
func ClockTrials() []ClockTrial {
	trials := []ClockTrial{
		{Name: "default", About: "0.1 s and 100 ppm off, delays of 100 µs and an exponential 100 µs", Length: 10_000 * time.Second, servers: one(near(1))},
		{Name: "asymmetric-jitter", About: "an exponential 500 µs, 97 % of it on the way to the server",
			servers: one(near(1).but(func(s *Server) { s.Tail, s.Asymmetry = 500*us, 0.94 }))},
		{Name: "heavy-tails", About: "a Pareto distribution of shape 1.5 with a mean of 500 µs",
			servers: one(near(1).but(func(s *Server) { s.Tail, s.Index = 500*us, 1/1.5 }))},
		{Name: "packet-loss", About: "a third of all questions and answers is lost, and all answers of a second server",
			servers: Servers{MinReferences: 1, List: []Server{near(1).but(func(s *Server) { s.Loss = 1. / 3 }),
				near(1).but(func(s *Server) { s.Back = MaxDuration })}}},
		{Name: "lossy-group", About: "besides, nodes lose a third of what they send each other, and 1 hears nothing of 3",
			servers: one(near(1).but(func(s *Server) { s.Loss = 1. / 3 })),
			faults:  []Fault{{Kind: Loss, Rate: 1. / 3}, {Kind: Cut, Node: 3, Peer: 1}}},
		{Name: "source-step", About: "one of three servers steps by 0.1 s after half an hour",
			servers: three(func(s *Server) { s.Shift, s.From, s.Until = 100*ms, 1800*time.Second, MaxDuration })},
		{Name: "large-offset", About: "the wall clocks are off by 1000 s", ahead: 1000 * time.Second, servers: one(near(1))},
		{Name: "large-rate", About: "the clock is 200 ppm fast", rate: 200_000, drift: 220_000, servers: one(near(1))},
		{Name: "temperature", About: "each clock's rate moves by 60 ppm and back, within 40 minutes", rate: 40_000, servers: one(near(1)),
			faults: []Fault{{Kind: Warm, Node: 1, Rate: 60_000, At: 10 * time.Minute, For: 40 * time.Minute},
				{Kind: Warm, Node: 2, Rate: -60_000, At: 15 * time.Minute, For: 40 * time.Minute},
				{Kind: Warm, Node: 3, Rate: 60_000, At: 12 * time.Minute, For: 40 * time.Minute}}},
		{Name: "liar", About: "one of three servers is off by 10 s",
			servers: three(func(s *Server) { s.Shift, s.Until = 10*time.Second, MaxDuration })},
		{Name: "holdover", About: "the server is silent from the 15th to the 30th minute",
			servers: one(near(1).but(func(s *Server) { s.Silent, s.Back = 15*time.Minute, 30*time.Minute }))},
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

// ClockTrialNamed returns the trial with a name.
func ClockTrialNamed(name string) (ClockTrial, error) {
	for _, t := range ClockTrials() {
		if t.Name == name {
			return t, nil
		}
	}
	return ClockTrial{}, fmt.Errorf("sim: there is no trial of clocks %q", name)
}

// world makes the world of a seed.
func (t *ClockTrial) world(seed uint64) (*World, error) {
	timing := timed.LAN()
	timing.MaxDrift, timing.OneWayTimeout = t.drift, 4*ms
	opt := Options{Nodes: trialNodes, Duration: t.Length, Timing: timing, Calm: true, Servers: &t.servers, Faults: t.faults, ahead: t.ahead}
	c, err := CaseOf(seed, opt)
	if err != nil {
		return nil, err
	}
	c.Options.ahead = t.ahead
	c.Schedule.Weather = Weather{MinDelay: 50 * us, MaxDelay: 150 * us, Lateness: 100 * us}
	w, err := c.World()
	if err != nil {
		return nil, err
	}
	for i, rate := range []int64{t.rate, -t.rate / 2, t.rate / 4} {
		w.bend(w.nodes[i], rate)
	}
	return w, nil
}
