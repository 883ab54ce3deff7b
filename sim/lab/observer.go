package lab

import (
	"slices"
	"time"

	"github.com/failaware/failaware/sim"
	"github.com/failaware/failaware/timed"
)

// observer records a run: the claims of processes and their ends, the connections,
// the durations of both, and the verdicts of the specifications.
type observer struct {
	observation
	w      *sim.World
	nodes  []*sim.Node
	timing timed.Timing
	claim  func(*sim.Node) (c Claim, vote, lead time.Duration)
	acted  func(*sim.Node) bool // the claim may have changed since the last call
	sent   func() (electing, all uint64)

	graph   graph
	changes uint64
	terms   terms
	last    time.Duration
	breaks  []time.Duration // when a bound passes, ascending
	specs   []verdict
	was     mask   // the leaders at the last look
	lanes   *lanes // nil without a picture

	m        Measure
	led      int
	two, any bool // two leaders that are connected: for κ, and at all
	open     bool // an election is under way
	provoked bool // by a change of connectivity
	fresh    bool // no election has ended since connectivity changed
	since    time.Duration
	messages uint64 // when it began
}

type verdict struct {
	name   SpecName
	spec   spec
	tested bool
	err    error
	at     time.Duration
}

// Measure has the measurements of one or more runs. Times are true times.
type Measure struct {
	Simulated time.Duration
	Up, Led   time.Duration // process-time: running, and led by a process that leads
	Two       time.Duration // two leaders that have been connected with each other for κ
	TwoAny    time.Duration // two leaders that are connected at all
	Changes   int           // how often a process began to lead
	Elections int           // how often all were led again after connectivity had changed
	Elect     time.Duration // the sum of how long that took since the change
	Worst     time.Duration // the longest
	Electing  uint64        // messages of the algorithm during elections
	Relapses  int           // how often agreement was lost although connectivity had not changed
	Sent      uint64        // all messages, those of failure detectors included
	Algorithm uint64        // of them, the algorithm's own
}

func (m *Measure) add(o *Measure) {
	m.Simulated, m.Up, m.Led, m.Two, m.TwoAny = m.Simulated+o.Simulated, m.Up+o.Up, m.Led+o.Led, m.Two+o.Two, m.TwoAny+o.TwoAny
	m.Changes, m.Elections, m.Elect, m.Worst = m.Changes+o.Changes, m.Elections+o.Elections, m.Elect+o.Elect, max(m.Worst, o.Worst)
	m.Relapses += o.Relapses
	m.Electing, m.Sent, m.Algorithm = m.Electing+o.Electing, m.Sent+o.Sent, m.Algorithm+o.Algorithm
}

func newObserver(w *sim.World, n int, t timed.Timing, r *Ranking, specs []SpecName) *observer {
	o := &observer{w: w, timing: t}
	bounds, _ := t.Validate()
	o.bound = bounds.Rejoin + bounds.Elect
	o.calm = bounds.Rejoin + time.Duration(n)*bounds.Elect
	o.longest = t.MaxDrift.Wait(t.MaxLockTime) + t.OneWayTimeout // which is the skew of synchronized clocks
	o.state, o.g, o.ranking = new(state), &o.graph, r
	for i := range n {
		o.nodes = append(o.nodes, w.Node(timed.NodeID(i+1)))
	}
	for _, name := range specs {
		o.specs = append(o.specs, verdict{name: name, spec: newSpec(name)})
	}
	return o
}

// observe brings the record up to now. It is called after every event: since the last call
// only leases can have ended.
func (o *observer) observe() {
	o.advance(o.w.Time())
	all := o.changes != o.w.Changes() // clocks may have been bent too
	if all {
		o.sample()
	}
	for _, n := range o.nodes {
		if !all && !o.acted(n) {
			continue
		}
		c, vote, lead := o.claim(n)
		o.changed = o.take(n, &c, o.now, vote, lead, &o.terms) || o.changed
	}
	o.changed = o.expire(&o.terms, o.now) || o.changed
	if o.changed {
		o.look()
	}
}

// advance advances the record over a time in which no process acts.
func (o *observer) advance(now time.Duration) {
	for o.last < now {
		end := min(now, max(o.ends(&o.terms), o.last))
		if len(o.breaks) > 0 {
			end = min(end, max(o.breaks[0], o.last))
		}
		o.account(end - o.last)
		o.last, o.now = end, end
		owed := false
		for len(o.breaks) > 0 && o.breaks[0] <= end {
			o.breaks, owed = o.breaks[1:], true
		}
		if o.changed = o.expire(&o.terms, end); o.changed || owed {
			o.look()
		}
	}
}

// account adds the present state to the sums for a time.
func (o *observer) account(d time.Duration) {
	o.m.Simulated += d
	o.m.Up += d * time.Duration(o.up.len())
	o.m.Led += d * time.Duration(o.led)
	if o.two {
		o.m.Two += d
	}
	if o.any {
		o.m.TwoAny += d
	}
}

// sample determines the present connections.
func (o *observer) sample() {
	o.changes = o.w.Changes()
	g := graphOf(o.w, len(o.nodes), o.timing)
	if g == o.graph && o.now > 0 {
		return
	}
	o.close()
	for i := range o.nodes {
		for j := range o.nodes {
			p, q := timed.NodeID(i+1), timed.NodeID(j+1)
			if g.joined(p, q) && !o.graph.joined(p, q) {
				o.joined[p][q] = o.now
			}
		}
	}
	o.graph, o.still = g, o.now
	o.blocks, o.least = g.partitions(), 0
	if g.crisp() {
		o.least = g.cover()
	}
	o.breaks = append(o.breaks, o.now+o.bound, o.now+o.calm)
	slices.Sort(o.breaks)
	if o.open {
		o.beginElection(true)
	}
	o.fresh, o.changed = true, true
}

// beginElection begins an election, or begins it again when connectivity changes during it.
func (o *observer) beginElection(provoked bool) {
	o.open, o.provoked, o.since = true, provoked, o.now
	o.messages, _ = o.sent()
}

// look updates the measurements by the new state, and checks the specifications.
func (o *observer) look() {
	o.led = 0
	for id := range o.up.all() {
		if o.state.led(id) {
			o.led++
		}
	}
	rivals := o.rivals(o.g)
	o.any, o.two = rivals != 0, false
	for p := range rivals.all() {
		for q := rivals.next(p); q != 0; q = rivals.next(q) {
			o.two = o.two || o.connectedFor(p, q, o.bound)
		}
	}
	o.m.Changes += (o.leaders &^ o.was).len()
	o.was = o.leaders
	switch agreed := o.agreed(o.g); {
	case agreed && o.open:
		o.finishElection()
	case !agreed && !o.open:
		if o.beginElection(o.fresh); !o.fresh {
			o.m.Relapses++
		}
	}
	if o.lanes != nil {
		o.draw()
	}
	o.judge(spec.look)
	o.changed = false
}

// finishElection ends an election.
func (o *observer) finishElection() {
	o.open, o.fresh = false, false
	if took := o.now - o.since; took > 0 && o.provoked {
		messages, _ := o.sent()
		o.m.Elections++
		o.m.Elect += took
		o.m.Worst = max(o.m.Worst, took)
		o.m.Electing += messages - o.messages
	}
}

// close ends a time without changes of connectivity.
func (o *observer) close() { o.judge(spec.close) }

func (o *observer) judge(by func(spec, *observation) (bool, error)) {
	for i := range o.specs {
		x := &o.specs[i]
		if x.err != nil {
			continue
		}
		tested, err := by(x.spec, &o.observation)
		x.tested = x.tested || tested
		if x.err = err; err != nil {
			x.at = o.now
		}
	}
}
