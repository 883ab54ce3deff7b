package replica

import (
	"slices"

	"github.com/failaware/failaware/timed"
)

// service is a snapshot that some members need, with its source and a standby that
// continues if the source leaves. It follows from ordered messages alone, so all
// members know it.
type service struct {
	name      Name
	source    timed.NodeID
	standby   timed.NodeID
	receivers timed.Set
}

// takeReport takes a member's report. The last report determines the state with which
// the view continues, at the same position of the order at all members.
func (m *Replica) takeReport(from timed.NodeID, r *report) {
	if m.phase != reporting || r.view != m.view.ID {
		return
	}
	i := m.view.Set.Rank(from)
	if m.reports[i] != nil {
		return
	}
	m.reports[i] = r
	if m.missing--; m.missing == 0 {
		m.judgeDisks()
		m.settle()
	}
}

// reportOf returns a member's report.
func (m *Replica) reportOf(id timed.NodeID) *report { return m.reports[m.view.Set.Rank(id)] }

// settle decides which states the view continues with.
func (m *Replica) settle() {
	if !m.agree() {
		m.phase = mixed
		return
	}
	if !m.proven() {
		return
	}
	m.branches = m.gather()
	if m.cfg.Quorum == nil {
		m.branches = m.withoutIncluded(m.branches)
	} else if len(m.branches) > 1 {
		m.branches = []branch{m.newest(m.branches)}
	}
	var holders timed.Set
	for i := range m.branches {
		holders = holders.Union(m.branches[i].members)
	}
	if m.phase = settled; len(m.branches) > 1 {
		m.phase = merging
	}
	m.notify(Event{Kind: EventSettled, Members: holders})
	self := m.cfg.Self.Node
	switch {
	case holders.Has(self) && m.standing == Tentative:
		// No member here knows more, so the initial state with the deliveries
		// since counts like any other state.
		m.dislocate()
		m.drainBefore()
		m.standing = Holder
	case holders.Has(self) && m.standing == Pending:
		m.dropEarlier(Label{})
		m.standing, m.lineage, m.old = Holder, m.old.Lineage, Earlier{}
	case len(m.branches) == 0:
		m.dropEarlier(Label{})
		m.standing, m.lineage = Blank, m.lineage.unnamed()
	case !holders.Has(self):
		m.await()
	}
	if m.Current() {
		m.remember()
	}
	m.promise()
	m.noteStored()
	if len(m.branches) == 1 {
		m.lineage.End, m.lineage.Line = m.branches[0].end, m.lineOf(holders)
	}
	m.plan(holders)
	m.prune()
	if m.Current() {
		m.locate(0)
		m.drain()
		m.checkStored()
	} else if m.overflows() {
		m.startOver()
	}
	m.attain()
	m.proceedAll()
}

// gather returns the states that the members bring along, in the order of their
// smallest members. A tentative state counts if no holder has delivered the same
// messages. An earlier or discarded state counts too: the state that it gave way to may
// be gone, and with quorums it may be newer than that of a holder that was absent.
func (m *Replica) gather() []branch {
	var holders timed.Set
	for i, r := range m.reports {
		if r.standing == Holder {
			holders.Add(m.view.Members[i].Node)
		}
	}
	var bs []branch
	voters := m.voters()
	for i, r := range m.reports {
		id := m.view.Members[i].Node
		b := branch{label: r.lineage.Label, members: timed.SetOf(id), epoch: max(1, m.epochs[i].state.Epoch),
			counts: m.begun || voters.Has(id), rank: r.lineage.Rank, end: r.lineage.End}
		switch {
		case r.standing == Holder:
		case r.standing == Tentative && !r.mates.Intersects(holders):
		case r.standing == Pending && r.lineage.Label != (Label{}):
		default:
			continue
		}
		if j := slices.IndexFunc(bs, func(o branch) bool { return o.label == b.label }); j >= 0 {
			bs[j].absorb(&b)
		} else {
			bs = append(bs, b)
		}
	}
	return bs
}

// absorb adds what another member says of the same state.
func (b *branch) absorb(o *branch) {
	b.members = b.members.Union(o.members)
	if o.compare(b) > 0 {
		b.epoch, b.counts, b.rank = o.epoch, o.counts, o.rank
	}
	if b.end == (Name{}) {
		b.end = o.end
	}
}

// await makes this node wait for a state from others. It keeps a queue that continues a
// state that a holder still has; see plan. The initial state may have a rank too, which lasts
// beyond the transfer.
func (m *Replica) await() {
	switch m.standing {
	case Holder:
		m.old = Earlier{Lineage: m.lineage}
	case Blank, Tentative:
		m.old = Earlier{Lineage: m.lineage.unnamed()}
	}
	m.noteDiscarded(m.standing == Holder)
	if m.phase == merging {
		m.dropEarlier(m.lineage.Label)
		m.standing, m.base, m.lineage = Pending, Name{}, m.lineage.unnamed()
		return
	}
	label := m.branches[0].label
	if m.resumable(m.cfg.Self.Node).Empty() {
		m.dropEarlier(label)
		m.base = Name{Label: label}
	}
	m.standing, m.lineage.Label = Pending, label
}

// dropEarlier drops the queue of earlier views. The state that the queue waited for is lost
// unless it has the label of the present state, which the caller gives.
func (m *Replica) dropEarlier(label Label) {
	if m.standing == Pending && m.lineage.Label != (Label{}) && m.lineage.Label != label {
		m.notify(Event{Kind: EventStateLost, Name: m.base})
	}
	m.skipAll(m.takeBefore())
	m.base = Name{}
}

// resumable returns the holders that can continue the transfer that a member waited
// for, if its queue leads from there to the state of the view.
func (m *Replica) resumable(id timed.NodeID) (sources timed.Set) {
	r, b := m.reportOf(id), &m.branches[0]
	if r.standing != Pending || r.awaits != b.label || r.base == (Name{}) {
		return sources
	}
	for h := range b.members.All() {
		if d, ok := find(m.reportOf(h).held, r.base); ok && (partOf(r, r.base, d.digest) > 0 || len(r.parts) == 0) {
			sources.Add(h)
		}
	}
	return sources
}

// find returns the copy of a snapshot in a list.
func find(cs []copyOf, n Name) (copyOf, bool) {
	for _, c := range cs {
		if c.name == n {
			return c, true
		}
	}
	return copyOf{}, false
}

// partOf returns how much of a snapshot a member has.
func partOf(r *report, n Name, d Digest) uint64 {
	for _, c := range r.parts {
		if c.name == n && c.digest == d {
			return c.got
		}
	}
	return 0
}

// plan assigns the snapshots: their sources and their receivers.
func (m *Replica) plan(holders timed.Set) {
	if m.phase == merging {
		for i := range m.branches {
			b := &m.branches[i]
			m.serve(Name{Label: b.label}, b.members, m.view.Set)
		}
		return
	}
	if len(m.branches) == 0 {
		return
	}
	fresh := Name{Label: m.branches[0].label}
	for id := range m.view.Set.Minus(holders).All() {
		name, sources := fresh, holders
		if rs := m.resumable(id); !rs.Empty() {
			name, sources = m.reportOf(id).base, rs
		}
		if i := m.serviceOf(name); i >= 0 {
			m.services[i].receivers.Add(id)
			continue
		}
		m.serve(name, sources, timed.SetOf(id))
	}
	for i := range m.services {
		m.open(&m.services[i])
	}
}

func (m *Replica) serviceOf(n Name) int {
	return slices.IndexFunc(m.services, func(s service) bool { return s.name == n })
}

// serve chooses the source of a snapshot: the least loaded of the members that can make
// it, preferably one that already holds it.
func (m *Replica) serve(n Name, can, receivers timed.Set) {
	s := service{name: n, receivers: receivers}
	s.source = m.choose(n, can)
	if m.phase == settled {
		s.standby = m.choose(n, can.Without(s.source))
	}
	s.receivers.Remove(s.source)
	m.services = append(m.services, s)
	if m.phase == merging {
		m.open(&m.services[len(m.services)-1])
	}
}

func (m *Replica) choose(n Name, can timed.Set) (best timed.NodeID) {
	var least *report
	bestHolds := false
	for id := range can.Minus(m.refused).All() {
		r := m.reportOf(id)
		_, holds := find(r.held, n)
		if least == nil || holds && !bestHolds || holds == bestHolds && r.load < least.load {
			best, least, bestHolds = id, r, holds
		}
	}
	return best
}

// prune drops snapshots and pieces that no member needs in this view.
func (m *Replica) prune() {
	m.held = slices.DeleteFunc(m.held, func(h held) bool { return m.streamOf(h.name) == nil })
	m.dropIncoming(func(p *incoming) bool { return !m.awaits(p.name) })
	switch {
	case m.phase == merging || m.standing == Pending:
		m.announce()
	case m.standing == Holder && m.view.Set.Len() > 1: // one that is alone has yet to hear of a later state
		m.dropSpare()
	}
}
