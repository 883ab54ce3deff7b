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

	// Kept across views.
	standing Standing
	lineage  Lineage // of the state at the view's beginning, or of the awaited state
	// ordered says, with Stored, how far each sender's messages had been ordered when the
	// view began, and at the last operation that was applied or is part of an awaited
	// state.
	ordered   []broadcast.Mark
	mates     timed.Set
	base      Name    // Pending: the state that the queue continues
	basedAt   uint64  // the position of the last operation in it, if it is from the middle of a view
	old       Earlier // Pending: the state that the application has while it waits
	discarded bool    // its end was reported
	// remembers says, with a Quorum, that this node knows everything that lasts because of it.
	remembers bool
	promised  uint64      // the largest rank of a view that this node saw settled; with Stored, of its generation
	hasTo     Point       // how far this node has had the state
	heard     []confirmed // how far the disks of nodes were, as they have confirmed
	queue     []*backlog  // operations that wait to be applied, by view
	queued    int         // bytes in queue
	load      uint64      // as set by SetLoad
	held      []held
	asked     []Name // snapshots requested from the application
	incoming  []*incoming
	spare     *Content      // of a transfer that came to nothing, perhaps in an earlier incarnation
	nextAt    timed.Instant // when the rate allows the next chunk

	viewState

	// Invalid counts deliveries that are not messages of this package.
	Invalid uint64
}

// viewState is what a Replica knows of its view. Nothing of it outlasts the view.
type viewState struct {
	view       *membership.View
	phase      phase
	declared   bool   // an operator has said that the view need not wait
	said       uint64 // the generation that the operator has begun
	earliest   uint64 // the first generation in which a member has begun; 0: not known
	begun      bool   // the view goes on although too few members remember
	ops        bool   // an operation has been delivered
	last       uint64 // the position of the last one
	reached    uint64 // the last position at which all members that got as far have the same state
	flushed    bool   // the operations behind reached may differ between members
	earlier    int    // how many parts of queue are of earlier views
	overflowed bool   // the queue was dropped, and nothing is kept until the marker
	reports    []*report
	settings   []*settings // by member; nil: not known
	epochs     []epochs    // by member
	disks      []disks     // by member, until all have reported
	rolledBack timed.Set   // members that lack what they have confirmed
	promises   bool        // all members promise generations
	vows       timed.Set   // members whose disks have promised the generation
	missing    int
	branches   []branch
	services   []service
	refused    timed.Set     // members that could not make a snapshot
	stuck      []service     // snapshots that none of the members that have the state could make
	refusals   int           // of this node
	retryAt    timed.Instant // when this node offers again to make snapshots
	resumeAt   timed.Instant // when this node asks again for pieces that it could not keep
	seen       uint64        // the position of the last delivery in the order
	whole      uint64        // one more than the last position that all members have, as lasts demands
	holders    timed.Set     // with a Quorum: members that have said so far that they have the state
	ready      timed.Set     // members that hold all inputs of the merge
	readySent  bool
	missed     *incoming // why this node ends once all are known to have the merger's position
	inputs     Digest    // digest of this node's inputs of the merge
	claims     []Digest  // the same of all members
	streams    []*stream
	peerBlocks [][]uint64 // by member: the blocks that it has announced
	pace       pace
	checks     []check
	stored     []uint64 // by member: one more than the position that its disk has
	lastsTo    uint64   // one more than the position through which the state lasts
	due        due      // what is waited for beyond that
}

// phase is the phase of a view.
type phase uint8

const (
	idle      phase = iota // no view, or one without a quorum: nothing is ordered
	reporting              // some reports are missing
	mixed                  // some members keep the state on disks, and others do not
	changing               // some members are in another epoch
	waiting                // too few members remember the state
	merging                // several states meet, and some members lack some of them
	settled                // there is one state
)

// branch is one state that members bring along to a view.
type branch struct {
	label   Label
	members timed.Set
	epoch   uint64 // of its era; 1 without one
	counts  bool   // one of the voters has it
	rank    uint64
	end     Name // where an incarnation left it, if one did
}

// New returns the machine of one incarnation, whose application has the state of an earlier
// incarnation, or the initial state. That state competes with those of others, like a discarded
// one. The configuration must be valid.
func New(cfg Config, has Earlier) *Replica {
	m := &Replica{cfg: cfg.WithDefaults(), viewState: viewState{retryAt: timed.Never, resumeAt: timed.Never}, lineage: has.unnamed(), old: has,
		remembers: has.Remembers, promised: has.Promised, hasTo: has.Has, heard: has.Confirmed, spare: has.Spare}
	if cfg.Stored {
		m.promised = firstOf(max(has.Promised, has.Rank))
	}
	m.old.Spare = nil
	if has.Label != (Label{}) {
		m.standing = Pending
	}
	return m
}

// Standing returns how much of the state this node has.
func (m *Replica) Standing() Standing { return m.standing }

// Settled reports whether the view has one state, which this node has or waits for.
func (m *Replica) Settled() bool { return m.phase == settled }

// Current reports whether this node applies deliveries at once, because it has the
// state with which the view continues.
func (m *Replica) Current() bool { return m.phase == settled && m.standing != Pending }

// Accepting reports whether operations may be broadcast. It bounds the queue while all
// members wait for a merge, or for the reports of a view.
func (m *Replica) Accepting() bool {
	switch m.phase {
	case idle, mixed, changing, waiting:
		return false
	case settled:
		return true
	}
	return m.queued < m.cfg.MaxQueued
}

// Queued returns how many bytes of deliveries wait for a snapshot or a merge, including
// 64 for each delivery.
func (m *Replica) Queued() int { return m.queued }

// SetLoad sets this node's load, in any unit that all members share. The least loaded
// member makes the snapshots. The load takes effect in the next view.
func (m *Replica) SetLoad(load uint64) { m.load = load }

func (m *Replica) emit(e Effect) { m.out = append(m.out, e) }

func (m *Replica) notify(e Event) {
	if m.view != nil {
		e.View = m.view.ID
	}
	m.emit(Effect{Kind: Notify, Event: &e})
}

func (m *Replica) broadcast(opt broadcast.Options, msg message) {
	m.emit(Effect{Kind: Broadcast, Options: opt, Payload: encode(&msg)})
}

// turn runs f, and then sends the chunks that have become possible.
func (m *Replica) turn(now timed.Instant, out []Effect, f func()) []Effect {
	m.now, m.out = now, out
	f()
	m.pump()
	m.noteDue()
	out, m.out = m.out, nil
	return out
}

// HandleInstalled begins a view, after all deliveries of the previous view. base is how far
// each sender's messages had been ordered before.
func (m *Replica) HandleInstalled(now timed.Instant, v *membership.View, base []broadcast.Mark, out []Effect) []Effect {
	return m.turn(now, out, func() {
		if m.view != nil {
			m.leave(v)
		}
		if m.cfg.Stored {
			m.ordered = slices.Clone(base)
		}
		m.begin(v)
	})
}

// leave ends the view. A member with a state of its own has delivered messages on top
// of it, merged or not, and takes the result along.
func (m *Replica) leave(next *membership.View) {
	if m.standing == Holder && len(m.queue) > 0 {
		m.locate(0) // the view did not settle
	}
	if m.ops {
		// All members that got as far have the same state, whichever view comes next.
		if reached := (Name{m.lineage.Label, m.view.ID, m.reached}); m.flushed {
			m.lineage = m.lineage.relabeled(reached, reached.Label.successor(m.view.ID, next.ID))
		} else {
			m.lineage = m.lineage.through(m.view.ID, m.last)
		}
	}
	switch {
	case m.standing == Holder:
		m.drain()
	case m.standing == Blank && m.ops && m.phase == settled:
		m.standing = Holder
	case m.standing == Blank && m.ops:
		m.standing, m.mates = Tentative, m.view.Set
	case m.standing == Pending && (m.phase == merging || m.overflowed):
		// The state that the queue continues will never exist.
		m.base, m.lineage = Name{}, m.lineage.unnamed()
		m.skipQueue()
	}
	m.giveUp()
	m.mates = m.mates.Intersect(next.Transitional(m.view.ID))
}

// begin starts a view, in which every member first reports its state.
func (m *Replica) begin(v *membership.View) {
	n := len(v.Members)
	m.viewState = viewState{view: v, earlier: len(m.queue), missing: n, reports: make([]*report, n), settings: make([]*settings, n),
		epochs: make([]epochs, n), disks: make([]disks, n), claims: make([]Digest, n), peerBlocks: make([][]uint64, n), stored: make([]uint64, n),
		retryAt: timed.Never, resumeAt: timed.Never, due: due{since: timed.Never}}
	// A snapshot that came before its need was known is sent again if it is needed.
	m.dropIncoming(func(p *incoming) bool { return !p.wanted })
	if q := m.cfg.Quorum; q != nil && !q.IsQuorum(v.Set) {
		return
	}
	m.phase = reporting
	r := report{view: v.ID, standing: m.standing, lineage: m.actual(),
		remembers: m.remembers, promised: m.promised, load: m.load, mates: m.mates, base: m.base}
	if m.standing == Pending {
		r.awaits = m.lineage.Label
	}
	r.lineage.Line = trimmed(r.lineage.Line, m.cfg.ancestors(), r.lineage.Rank)
	most := m.cfg.copies()
	for i := range m.held[:min(len(m.held), most)] {
		h := &m.held[i]
		r.held = append(r.held, copyOf{h.name, h.digest, h.state.size})
	}
	for _, p := range m.incoming {
		p.again, p.seen = true, false
		c := copyOf{p.name, p.digest, p.data.size}
		switch {
		case len(r.parts) < most:
			r.parts = append(r.parts, c)
		case p.name == m.base:
			r.parts[0] = c // the state that this node's queue continues
		}
	}
	m.broadcast(marker, message{kind: kindSettings, view: v.ID, own: m.cfg.settings()})
	m.broadcastEpoch()
	m.broadcastGeneration()
	m.broadcastDisks()
	m.broadcast(marker, message{kind: kindReport, report: r})
}

// HandleDelivery handles one delivery of the view, and keeps its payload.
func (m *Replica) HandleDelivery(now timed.Instant, d broadcast.Delivery, out []Effect) []Effect {
	return m.turn(now, out, func() {
		m.noteSeen(&d)
		op, isOp := operation(d.Payload)
		switch {
		case m.view == nil || !m.view.Has(timed.Incarnation{Node: d.Sender, Boot: d.Boot}):
			m.Invalid++
		case isOp && d.Class == broadcast.ClassOrdered: // most are, and a decoded message takes a piece of the heap
			d.Payload = op
			m.takeOp(d)
		default:
			m.takeMessage(d)
		}
	})
}

// takeMessage takes a message that is not an operation.
func (m *Replica) takeMessage(d broadcast.Delivery) {
	var msg message
	if err := decode(d.Payload, &msg); err != nil || (d.Class == broadcast.ClassOrdered) != msg.ordered() && msg.kind != kindBeside {
		m.Invalid++
		return
	}
	switch msg.kind {
	case kindReport:
		m.takeReport(d.Sender, &msg.report)
	case kindReady:
		m.takeReady(d.Sender, &msg)
	case kindAsk:
		m.takeAsk(d.Sender, msg.view, d.Position)
	case kindRefuse:
		m.takeRefuse(d.Sender, &msg, d.Position)
	case kindRetry:
		m.takeRetry(d.Sender, &msg, d.Position)
	case kindBootstrap:
		m.takeBootstrap(&msg)
	case kindHolds:
		m.takeHolds(d.Sender, msg.view)
	case kindBarrier:
		m.takeBarrier(d)
	case kindBlocks:
		m.takeBlocks(d.Sender, &msg)
	case kindChunk, kindSame:
		m.takeChunk(d.Sender, &msg)
	case kindGot:
		m.takeGot(d.Sender, &msg)
	case kindHash:
		m.takeHash(d.Sender, msg.at, msg.sum)
	case kindStored:
		m.takeStored(d.Sender, msg.at)
	case kindEpoch:
		m.takeEpoch(d.Sender, msg.view, msg.epochs)
	case kindDisks:
		m.takeDisks(d.Sender, &msg)
	case kindGeneration:
		m.takeGeneration(d.Sender, &msg)
	case kindPromised:
		m.takePromised(d.Sender, msg.view)
	case kindSettings:
		m.takeSettings(d.Sender, msg.view, msg.own)
	case kindBeside:
		d.Payload = msg.body
		m.emit(Effect{Kind: Beside, Delivery: d})
	}
}

// ordered reports whether messages of this kind are broadcast in order.
func (m *message) ordered() bool {
	return m.kind < kindChunk || m.kind >= kindSettings
}

// takeOp applies an operation, or queues it until the state has come.
func (m *Replica) takeOp(d broadcast.Delivery) {
	m.ops = true
	m.notePosition(&d)
	if m.Current() {
		m.apply(d, true, m.lasts(&d))
		return
	}
	if m.overflowed {
		m.skip(d)
		return
	}
	if m.wait(&d); m.overflows() {
		m.startOver()
	}
}

// apply makes the application apply an operation. fresh says that the application has the
// state of the view, so that members can compare hashes.
func (m *Replica) apply(d broadcast.Delivery, fresh, lasting bool) {
	m.noteOrdered(&d)
	m.emit(Effect{Kind: Apply, Delivery: d, At: Point{m.view.ID, d.Position}, Lasting: lasting})
	if n := uint64(m.cfg.HashEvery); fresh && n > 0 && d.Position%n == 0 {
		m.emit(Effect{Kind: Hash, At: Point{m.view.ID, d.Position}})
	}
}

// skip reports this node's own operations that will not be applied, because callers may
// wait for them. The state that this node awaits contains them.
func (m *Replica) skip(ds ...broadcast.Delivery) {
	for i := range ds {
		m.noteOrdered(&ds[i])
		if m.own(&ds[i]) {
			m.emit(Effect{Kind: Skip, Delivery: ds[i]})
		}
	}
}

// own reports whether a delivery is from this incarnation.
func (m *Replica) own(d *broadcast.Delivery) bool {
	return d.Sender == m.cfg.Self.Node && d.Boot == m.cfg.Self.Boot
}

// HandleTimeout does the work that has become due.
func (m *Replica) HandleTimeout(now timed.Instant, out []Effect) []Effect {
	return m.turn(now, out, func() {
		m.retry()
		m.resume()
	})
}

// Deadline returns when HandleTimeout is next due.
func (m *Replica) Deadline() timed.Instant {
	due := timed.Earlier(m.retryAt, m.resumeAt)
	if slices.ContainsFunc(m.streams, m.mayFlow) {
		return timed.Earlier(timed.Later(m.nextAt, m.pace.due()), due)
	}
	return due
}
