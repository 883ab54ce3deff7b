package lab

import (
	"slices"
	"time"

	"github.com/failaware/failaware/sim"
	"github.com/failaware/failaware/timed"
)

// book is the record of a run: the claims of processes and their ends, the connections,
// the durations of both, and the verdicts of the specifications.
type book struct {
	vista
	w      *sim.World
	nodes  []*sim.Node
	timing timed.Timing
	claim  func(*sim.Node) (c Claim, vote, lead time.Duration)
	acted  func(*sim.Node) bool // it may claim something else than when it was asked last
	sent   func() (electing, all uint64)

	graph   graph
	changes uint64
	terms   terms
	last    time.Duration
	breaks  []time.Duration // when something comes to be owed, ascending
	specs   []verdict
	was     mask   // the leaders at the last look
	lanes   *lanes // nil without a picture

	m        Measure
	led      int
	two, any bool // two leaders that are connected: for κ, and at all
	open     bool // an election is under way
	provoked bool // by a change of connectivity
	fresh    bool // connectivity has changed, and no election was over since
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
	Elections int           // how often all came to be led again after connectivity had changed
	Elect     time.Duration // the sum of how long that took since the change
	Worst     time.Duration // the longest
	Electing  uint64        // messages of the algorithm while it did
	Relapses  int           // how often not all were led any more although connectivity had not changed
	Sent      uint64        // all messages, those of failure detectors included
	Algorithm uint64        // of them, the algorithm's own
}

func (m *Measure) add(o *Measure) {
	m.Simulated, m.Up, m.Led, m.Two, m.TwoAny = m.Simulated+o.Simulated, m.Up+o.Up, m.Led+o.Led, m.Two+o.Two, m.TwoAny+o.TwoAny
	m.Changes, m.Elections, m.Elect, m.Worst = m.Changes+o.Changes, m.Elections+o.Elections, m.Elect+o.Elect, max(m.Worst, o.Worst)
	m.Relapses += o.Relapses
	m.Electing, m.Sent, m.Algorithm = m.Electing+o.Electing, m.Sent+o.Sent, m.Algorithm+o.Algorithm
}

func newBook(w *sim.World, n int, t timed.Timing, r *Ranking, specs []SpecName) *book {
	b := &book{w: w, timing: t}
	bounds, _ := t.Validate()
	b.bound = bounds.Rejoin + bounds.Elect
	b.settle = bounds.Rejoin + time.Duration(n)*bounds.Elect
	b.longest = t.MaxDrift.Wait(t.MaxLockTime) + t.OneWayTimeout // which is the skew of synchronized clocks
	b.state, b.g, b.ranking = new(state), &b.graph, r
	for i := range n {
		b.nodes = append(b.nodes, w.Node(timed.NodeID(i+1)))
	}
	for _, name := range specs {
		b.specs = append(b.specs, verdict{name: name, spec: newSpec(name)})
	}
	return b
}

// observe brings the book up to now. It is called after every event, so that of
// the time since the last call only the ends of leases are new.
func (b *book) observe() {
	b.pass(b.w.Time())
	all := b.changes != b.w.Changes() // clocks may have been bent, too
	if all {
		b.sample()
	}
	for _, n := range b.nodes {
		if !all && !b.acted(n) {
			continue
		}
		c, vote, lead := b.claim(n)
		b.changed = b.take(n, &c, b.now, vote, lead, &b.terms) || b.changed
	}
	b.changed = b.expire(&b.terms, b.now) || b.changed
	if b.changed {
		b.look()
	}
}

// pass lets time pass in which no process acts.
func (b *book) pass(now time.Duration) {
	for b.last < now {
		end := min(now, max(b.ends(&b.terms), b.last))
		if len(b.breaks) > 0 {
			end = min(end, max(b.breaks[0], b.last))
		}
		b.account(end - b.last)
		b.last, b.now = end, end
		owed := false
		for len(b.breaks) > 0 && b.breaks[0] <= end {
			b.breaks, owed = b.breaks[1:], true
		}
		if b.changed = b.expire(&b.terms, end); b.changed || owed {
			b.look()
		}
	}
}

// account adds the present state to the sums for a time.
func (b *book) account(d time.Duration) {
	b.m.Simulated += d
	b.m.Up += d * time.Duration(b.up.len())
	b.m.Led += d * time.Duration(b.led)
	if b.two {
		b.m.Two += d
	}
	if b.any {
		b.m.TwoAny += d
	}
}

// sample determines the present connections.
func (b *book) sample() {
	b.changes = b.w.Changes()
	g := graphOf(b.w, len(b.nodes), b.timing)
	if g == b.graph && b.now > 0 {
		return
	}
	b.close()
	for i := range b.nodes {
		for j := range b.nodes {
			p, q := timed.NodeID(i+1), timed.NodeID(j+1)
			if g.joined(p, q) && !b.graph.joined(p, q) {
				b.joined[p][q] = b.now
			}
		}
	}
	b.graph, b.still = g, b.now
	b.blocks, b.least = g.partitions(), 0
	if g.crisp() {
		b.least = g.cover()
	}
	b.breaks = append(b.breaks, b.now+b.bound, b.now+b.settle)
	slices.Sort(b.breaks)
	if b.open {
		b.begin(true)
	}
	b.fresh, b.changed = true, true
}

// begin begins an election, or begins it anew when connectivity changes during it.
func (b *book) begin(provoked bool) {
	b.open, b.provoked, b.since = true, provoked, b.now
	b.messages, _ = b.sent()
}

// look shows the specifications the state from now on.
func (b *book) look() {
	b.led = 0
	for id := b.up.next(0); id != 0; id = b.up.next(id) {
		if b.state.led(id) {
			b.led++
		}
	}
	rivals := b.rivals(b.g)
	b.any, b.two = rivals != 0, false
	for p := rivals.next(0); p != 0; p = rivals.next(p) {
		for q := rivals.next(p); q != 0; q = rivals.next(q) {
			b.two = b.two || b.connectedFor(p, q, b.bound)
		}
	}
	b.m.Changes += (b.leaders &^ b.was).len()
	b.was = b.leaders
	switch agreed := b.agreed(b.g); {
	case agreed && b.open:
		b.finish()
	case !agreed && !b.open:
		if b.begin(b.fresh); !b.fresh {
			b.m.Relapses++
		}
	}
	if b.lanes != nil {
		b.draw()
	}
	b.judge(spec.look)
	b.changed = false
}

// finish ends an election.
func (b *book) finish() {
	b.open, b.fresh = false, false
	if took := b.now - b.since; took > 0 && b.provoked {
		messages, _ := b.sent()
		b.m.Elections++
		b.m.Elect += took
		b.m.Worst = max(b.m.Worst, took)
		b.m.Electing += messages - b.messages
	}
}

// close ends a still time.
func (b *book) close() { b.judge(spec.close) }

func (b *book) judge(by func(spec, *vista) (bool, error)) {
	for i := range b.specs {
		x := &b.specs[i]
		if x.err != nil {
			continue
		}
		tested, err := by(x.spec, &b.vista)
		x.tested = x.tested || tested
		if x.err = err; err != nil {
			x.at = b.now
		}
	}
}
