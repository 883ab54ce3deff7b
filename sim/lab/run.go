package lab

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/sim"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// run is one algorithm in one world.
type run struct {
	alg          *Algorithm
	ranking      *Ranking
	pace         Pace
	timing       timed.Timing
	synchronized bool
	skews        []time.Duration
	hosts        []*host // by id, less 1; the present process
	sent         [kinds]uint64
	buf          []byte
	observer     *observer
	specs        []SpecName
	observe      bool // the world has been made
}

// Outcome is the outcome of one run.
type Outcome struct {
	Measure
	Verdicts []Verdict
	Hash     uint64 // of the world's trace
}

// Verdict is the verdict of a specification on a run.
type Verdict struct {
	Spec   SpecName
	Tested bool          // its premise held at some time
	Err    error         // the violation, or nil
	At     time.Duration // true time of the violation
}

// Run runs an algorithm in a scenario with a seed, to its end. The error is
// about the scenario, or the algorithm's code.
func Run(a Algorithm, s Scenario, seed uint64) (Outcome, error) {
	r, w, err := prepare(&a, &s, seed, nil)
	if err != nil {
		return Outcome{}, err
	}
	if err := r.runToEnd(w, &s); err != nil {
		return Outcome{}, err
	}
	return r.outcome(w), nil
}

// scenarioStream separates the draws of a scenario from the draws of the simulator for
// the same seed.
const scenarioStream = 0x1ab

// prepare makes the world of a run, before anything has happened in it. change,
// if not nil, alters its case.
func prepare(a *Algorithm, s *Scenario, seed uint64, change func(*sim.Case)) (*run, *sim.World, error) {
	r := &run{alg: a, ranking: LowestID(s.Nodes), timing: timed.LAN(), synchronized: a.Synchronized, specs: Specs()}
	r.pace = PaceOf(r.timing)
	opt := sim.Options{Nodes: s.Nodes, Duration: s.Duration, Timing: r.timing, Mode: a.Mode, RankBy: leader.ByID, Bare: !a.Own(),
		Calm: !s.Random, Without: []fault.Class{fault.ClassRival, fault.ClassClone, fault.ClassResign}, App: r.app}
	c, err := sim.CaseOf(seed, opt)
	if err != nil {
		return nil, nil, err
	}
	d := rand.New(rand.NewPCG(seed, scenarioStream))
	for range s.Nodes {
		r.skews = append(r.skews, time.Duration(d.Int64N(int64(r.pace.Skew))))
	}
	c.Schedule.Faults = append(c.Schedule.Faults, s.Faults(d)...)
	fault.Sort(c.Schedule.Faults)
	if change != nil {
		change(&c)
	}
	r.hosts = make([]*host, s.Nodes)
	w, err := c.World()
	if err != nil {
		return nil, nil, fmt.Errorf("lab: scenario %s: %w", s.Name, err)
	}
	r.observer = newObserver(w, s.Nodes, r.timing, r.ranking, r.specs)
	r.observer.claim, r.observer.acted, r.observer.sent = r.claim, r.acted, func() (uint64, uint64) { return r.counted(w) }
	r.observer.sample()
	r.observer.beginElection(true)
	r.observer.changes-- // so that all processes are read at first
	r.observe = true
	r.observer.observe()
	return r, w, nil
}

// app is the application of the run's world.
func (r *run) app(*sim.World) sim.App {
	return sim.App{Start: r.start, Says: says, Invariants: []sim.Invariant{{Name: "lab", Check: func() error {
		if r.observe {
			r.observer.observe()
		}
		return nil
	}}}}
}

func (r *run) start(n *sim.Node) sim.Handlers {
	if r.alg.Own() {
		return sim.Handlers{}
	}
	h := &host{lab: r, node: n, skew: r.skews[n.ID()-1]}
	begin := func() {
		h.m = r.alg.Machine(n.ID(), r.ranking, r.pace)
		h.d = r.detector(n)
		r.hosts[n.ID()-1] = h
		h.start()
	}
	begin()
	// A machine that slept has missed its time-outs: the process begins anew, as
	// the platform's own does.
	return sim.Handlers{Deliver: h.deliver, Restarted: func(timed.BootID) { h.timer.Stop(); begin() }}
}

func (r *run) detector(n *sim.Node) Detector {
	all, now := r.ranking.Members, n.Instant()
	switch r.alg.Detector {
	case ByPing:
		return NewPingTimeout(n.ID(), all, r.pace, now)
	case ByPhi:
		return NewPhiAccrual(n.ID(), all, r.pace, now)
	case ByFastMessages:
		return NewFastAlive(n.Incarnation(), all, r.timing, now)
	}
	return Trusting(all)
}

// acted reports whether a process has run since its claim was read.
func (r *run) acted(n *sim.Node) bool { return r.alg.Own() || r.hosts[n.ID()-1].acted }

// claim returns the claim of a process, and the true times at which it ends.
func (r *run) claim(n *sim.Node) (c Claim, vote, lead time.Duration) {
	if !n.Up() {
		return Claim{}, 0, 0
	}
	if r.alg.Own() {
		c = ownClaim(n, r.alg.Global)
		return c, n.When(c.Until), n.When(c.LeadUntil)
	}
	h := r.hosts[n.ID()-1]
	h.acted = false
	c = h.m.Claim(h.now())
	return c, h.when(c.Until), h.when(c.LeadUntil)
}

// ownClaim returns the claim of a node of the platform.
func ownClaim(n *sim.Node, global bool) (c Claim) {
	if until := n.LeadsUntil(); until != 0 {
		c = Claim{Elected: n.ID(), Until: until, Leads: true, LeadUntil: until, Support: n.Support()}
		c.Leads = !global || 2*c.Support.Len() > len(n.World().Nodes())
	} else if l := n.Follows(); l != 0 && l != n.ID() {
		c = Claim{Elected: l, Until: n.FollowsUntil()}
	}
	c.Group, c.Normal = Group{Leader: c.Elected}, c.Elected != 0
	if !c.Leads {
		c.LeadUntil, c.Support = 0, timed.Set{}
	}
	return c
}

// counted returns the numbers of messages so far: the algorithm's own, and all.
func (r *run) counted(w *sim.World) (own, all uint64) {
	if r.alg.Own() {
		c := w.Counters()
		return c.Electing, c.Sent
	}
	for k, n := range r.sent {
		all += n
		if !Kind(k).detects() {
			own += n
		}
	}
	return own, all
}

// runToEnd lets the world run to the end of the scenario.
func (r *run) runToEnd(w *sim.World, s *Scenario) error {
	err := r.runUntil(w, s, s.Duration)
	r.observer.close()
	return err
}

// runUntil lets the world run up to a time.
func (r *run) runUntil(w *sim.World, s *Scenario, end time.Duration) error {
	// Stalls end without an event, so determine the connections at their ends.
	looks := []time.Duration{end}
	for _, f := range w.Faults() {
		if f.Kind == fault.Stall || f.Kind == fault.Suspend {
			looks = append(looks, f.At+f.For)
		}
	}
	if !s.Callers.Empty() {
		looks = append(looks, s.Call)
	}
	slices.Sort(looks)
	for _, at := range slices.Compact(looks) {
		if at <= w.Time() || at > end {
			continue
		}
		if err := w.Run(at - w.Time()); err != nil {
			return fmt.Errorf("lab: %s in scenario %s: %w", r.alg.Name, s.Name, err)
		}
		r.observer.advance(w.Time())
		r.observer.sample()
		if at == s.Call && !r.alg.Own() {
			for id := range s.Callers.All() {
				if n := w.Node(id); n.Up() {
					n.After(0, r.hosts[id-1].elect)
				}
			}
		}
	}
	return nil
}

func (r *run) outcome(w *sim.World) Outcome {
	res := w.Result()
	o := Outcome{Measure: r.observer.m, Hash: res.Hash}
	o.Algorithm, o.Sent = r.counted(w)
	for _, v := range r.observer.specs {
		o.Verdicts = append(o.Verdicts, Verdict{v.name, v.tested, v.err, v.at})
	}
	return o
}
