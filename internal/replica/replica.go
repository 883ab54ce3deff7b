package replica

import (
	"slices"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// Replica is the replicated state of one incarnation, without the state itself.
// It is a pure machine for one goroutine.
type Replica struct {
	cfg Config
	now timed.Instant
	out []Effect

	// Kept over views.
	standing Standing
	label    Label  // of the state at the view's begin, or of the one to come
	rank     uint64 // RequireQuorum: the sequence of the last quorum's view that was settled
	mates    timed.Set
	base     Name  // Pending: the state that the queue goes on from
	old      Label // Pending: of the state that the application has until it gets the other
	oldRank  uint64
	queue    []broadcast.Delivery // what waits to be applied
	queued   int                  // its bytes
	load     uint64               // as the caller says
	held     []held
	asked    []Name // snapshots that the application is to make
	incoming []*incoming

	// Of the view.
	view       *membership.View
	phase      phase
	ops        bool // something has been delivered
	before     int  // how much of the queue is of earlier views
	overflowed bool // the queue was dropped, and nothing is kept until the marker
	reports    []*report
	missing    int
	branches   []branch
	services   []service
	refused    timed.Set // who could not make a snapshot
	holders    timed.Set // who has the state, as of this place in the order
	ready      timed.Set // who holds all that is to be merged
	saidReady  bool
	inputs     Digest   // what this node merges
	claims     []Digest // what the members do
	streams    []*stream
	nextAt     timed.Instant // when the rate lets the next chunk go
	checks     []check

	// Invalid counts deliveries that are none of this package's messages.
	Invalid uint64
}

// phase is how far a view has come.
type phase uint8

const (
	idle      phase = iota // no view, or one without a quorum: nothing is ordered
	reporting              // not all members have said what they have
	merging                // several states meet, and not all members hold all of them
	settled                // there is one state
)

// branch is one state that members bring along.
type branch struct {
	label   Label
	members timed.Set
	rank    uint64
}

// New returns the machine of one incarnation, whose application has the initial
// state. The configuration must be valid.
func New(cfg Config) *Replica { return &Replica{cfg: cfg.WithDefaults()} }

// Standing returns what this node has of the state.
func (m *Replica) Standing() Standing { return m.standing }

// Settled reports whether the view has one state, which this node has or waits
// for.
func (m *Replica) Settled() bool { return m.phase == settled }

// Current reports whether this node applies what is delivered at once: it has
// the state that the view goes on with.
func (m *Replica) Current() bool { return m.phase == settled && m.standing != Pending }

// Accepting reports whether operations may be broadcast. While all members wait
// for a merge, this is what bounds what waits with them.
func (m *Replica) Accepting() bool {
	switch m.phase {
	case idle:
		return false
	case settled:
		return true
	}
	return m.queued < m.cfg.MaxQueued
}

// Queued returns how many bytes of deliveries wait for a snapshot or a merge, 64
// for each delivery included.
func (m *Replica) Queued() int { return m.queued }

// SetLoad says how loaded this node is, in whatever unit all members use; the
// least loaded makes the snapshots. It counts from the next view on.
func (m *Replica) SetLoad(load uint64) { m.load = load }

func (m *Replica) emit(e Effect) { m.out = append(m.out, e) }

func (m *Replica) notify(e Event) {
	if m.view != nil {
		e.View = m.view.ID
	}
	m.emit(Effect{Kind: Notify, Event: e})
}

func (m *Replica) say(opt broadcast.Options, msg message) {
	m.emit(Effect{Kind: Broadcast, Options: opt, Payload: encode(&msg)})
}

// turn lets f handle something, and sends what has become possible.
func (m *Replica) turn(now timed.Instant, out []Effect, f func()) []Effect {
	m.now, m.out = now, out
	f()
	m.pump()
	out, m.out = m.out, nil
	return out
}

// HandleInstalled takes the begin of a view, after all deliveries of the one
// before it.
func (m *Replica) HandleInstalled(now timed.Instant, v *membership.View, out []Effect) []Effect {
	return m.turn(now, out, func() {
		if m.view != nil {
			m.leave(v)
		}
		m.begin(v)
	})
}

// leave ends the view. Whoever has a state of its own has delivered something on
// top of it, merged or not, and takes it along.
func (m *Replica) leave(next *membership.View) {
	if m.ops {
		m.label = m.label.successor(m.view.ID, next.ID)
	}
	switch {
	case m.standing == Holder:
		m.drain()
	case m.standing == Blank && m.ops && m.phase == settled:
		m.standing = Holder
	case m.standing == Blank && m.ops:
		m.standing, m.mates = Tentative, m.view.Set
	case m.standing == Pending && (m.phase == merging || m.overflowed):
		// What is queued goes on from a state that there will not be.
		m.base, m.label = Name{}, Label{}
		m.skipQueue()
	}
	m.mates = m.mates.Intersect(next.Transitional(m.view.ID))
}

// begin starts a view: everybody says what it comes with.
func (m *Replica) begin(v *membership.View) {
	m.view, m.phase, m.ops, m.before, m.overflowed = v, idle, false, len(m.queue), false
	m.reports, m.missing = make([]*report, len(v.Members)), len(v.Members)
	// What came before it was known whether it is needed, comes again if it is.
	m.incoming = slices.DeleteFunc(m.incoming, func(p *incoming) bool { return !p.wanted })
	m.branches, m.services, m.streams, m.checks = nil, nil, nil, nil
	m.refused, m.ready, m.saidReady, m.claims = timed.Set{}, timed.Set{}, false, make([]Digest, len(v.Members))
	m.holders = timed.Set{}
	group := m.cfg.RequireQuorum
	if !group.Empty() && 2*v.Set.Intersect(group).Len() <= group.Len() {
		return
	}
	m.phase = reporting
	r := report{view: v.ID, standing: m.standing, label: m.label, rank: m.rank, load: m.load, mates: m.mates,
		base: m.base, old: m.old, oldRank: m.oldRank}
	most := m.cfg.copies()
	for i := range m.held[:min(len(m.held), most)] {
		h := &m.held[i]
		r.held = append(r.held, copyOf{h.name, h.digest, uint64(len(h.state))})
	}
	for _, p := range m.incoming {
		p.again, p.seen = true, false
		c := copyOf{p.name, p.digest, uint64(len(p.data))}
		switch {
		case len(r.parts) < most:
			r.parts = append(r.parts, c)
		case p.name == m.base:
			r.parts[0] = c // which this node's queue goes on from
		}
	}
	m.say(marker, message{kind: kindReport, report: r})
}

// HandleDelivery takes one delivery of the view. Its payload is kept.
func (m *Replica) HandleDelivery(now timed.Instant, d broadcast.Delivery, out []Effect) []Effect {
	return m.turn(now, out, func() {
		var msg message
		from := timed.Incarnation{Node: d.Sender, Boot: d.Boot}
		if err := decode(d.Payload, &msg); err != nil || m.view == nil || !m.view.Has(from) ||
			(d.Class == broadcast.ClassOrdered) != msg.ordered() {
			m.Invalid++
			return
		}
		switch msg.kind {
		case kindOp:
			d.Payload = msg.body
			m.takeOp(d)
		case kindReport:
			m.takeReport(d.Sender, &msg.report)
		case kindReady:
			m.takeReady(d.Sender, &msg)
		case kindAsk:
			m.takeAsk(d.Sender, msg.view, d.Position)
		case kindRefuse:
			m.takeRefuse(d.Sender, &msg, d.Position)
		case kindHolds:
			m.takeHolds(d.Sender, msg.view)
		case kindBarrier:
			m.takeBarrier(d)
		case kindChunk:
			m.takeChunk(d.Sender, &msg)
		case kindGot:
			m.takeGot(d.Sender, &msg)
		case kindHash:
			m.takeHash(d.Sender, msg.at, msg.sum)
		}
	})
}

// ordered reports whether a message of its kind has a place in the order.
func (m *message) ordered() bool { return m.kind < kindChunk }

// takeOp applies an operation, or lets it wait for the state that it changes.
func (m *Replica) takeOp(d broadcast.Delivery) {
	m.ops = true
	if m.Current() {
		m.apply(d, true, m.lasts(&d))
		return
	}
	if m.overflowed {
		m.skip(d)
		return
	}
	m.queue = append(m.queue, d)
	m.queued += len(d.Payload) + perDelivery
	if m.phase == settled && m.queued > m.cfg.MaxQueued {
		m.startOver()
	}
}

// apply hands an operation to the application. fresh: the state is that of the
// view, which others can compare theirs with.
func (m *Replica) apply(d broadcast.Delivery, fresh, lasting bool) {
	m.emit(Effect{Kind: Apply, Delivery: d, Lasting: lasting})
	if n := uint64(m.cfg.HashEvery); fresh && n > 0 && d.Position%n == 0 {
		m.emit(Effect{Kind: Hash, At: Point{m.view.ID, d.Position}})
	}
}

// drain applies what waits.
func (m *Replica) drain() {
	for i := range m.queue {
		m.apply(m.queue[i], m.phase == settled && i >= m.before, false)
	}
	m.dropQueue()
}

// dropQueue forgets what waits.
func (m *Replica) dropQueue() { m.queue, m.queued, m.before = nil, 0, 0 }

// skipQueue forgets what waits, and is not applied by this node.
func (m *Replica) skipQueue() {
	m.skip(m.queue...)
	m.dropQueue()
}

// skip says that operations are not applied, to who made them and may wait.
func (m *Replica) skip(ds ...broadcast.Delivery) {
	for i := range ds {
		if m.own(&ds[i]) {
			m.emit(Effect{Kind: Skip, Delivery: ds[i]})
		}
	}
}

// own reports whether a delivery is of this incarnation.
func (m *Replica) own(d *broadcast.Delivery) bool {
	return d.Sender == m.cfg.Self.Node && d.Boot == m.cfg.Self.Boot
}

// takeBefore takes what is of earlier views out of the queue.
func (m *Replica) takeBefore() []broadcast.Delivery {
	old := m.queue[:m.before:m.before]
	m.queue, m.before = m.queue[m.before:], 0
	for i := range old {
		m.queued -= len(old[i].Payload) + perDelivery
	}
	return old
}

// HandleTimeout does what has become due.
func (m *Replica) HandleTimeout(now timed.Instant, out []Effect) []Effect {
	return m.turn(now, out, func() {})
}

// Deadline returns when HandleTimeout is next due.
func (m *Replica) Deadline() timed.Instant {
	for _, s := range m.streams {
		if m.mayFlow(s) {
			return m.nextAt
		}
	}
	return timed.Never
}
