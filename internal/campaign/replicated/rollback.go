package replicated

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// An older copy of a disk may come back, and its node cannot notice. Others can that have heard
// how far the disk was. Where no member of a view has heard it, operations that lasted may be
// gone.

// reach is how far a state goes: a generation of ranks, or 0 where the same state is compared with
// itself, a sequence of views, and a position.
type reach struct{ generation, sequence, position uint64 }

func reachOf(p replica.Point) reach { return reach{0, p.View.Sequence, p.Position} }

// generationOf returns the generation of a rank.
func generationOf(rank uint64) uint64 { return rank >> 34 }

// placed returns how far the state at a place goes. What was flushed at the end of a view has
// no position, and the view is an ancestor then.
func placed(p *replica.Place) reach {
	r := reach{0, p.View.Sequence, p.Position}
	if n := len(p.Line); p.Position == 0 && n > 0 && p.Line[n-1].View == p.View {
		r.position = math.MaxUint64
	}
	return r
}

func (r reach) compare(o reach) int {
	return cmp.Or(cmp.Compare(r.generation, o.generation), cmp.Compare(r.sequence, o.sequence), cmp.Compare(r.position, o.position))
}

// process is what the process of a member knows of states and disks.
type process struct {
	has       reach                  // how far it has the state
	remembers bool                   // it has had the state of a quorum
	heard     map[timed.NodeID]reach // how far disks were
	early     map[timed.NodeID]reach // the same, before the view has settled
	// dates has the generations of what a member says of disks, unless it is 0.
	dates map[timed.NodeID]map[timed.NodeID]uint64
	views bool // it has been in views
}

// reaches notes that the process has the state through a point.
func (p *process) reaches(r reach) {
	if r.compare(p.has) > 0 {
		p.has = r
	}
}

func (p *process) hear(id timed.NodeID, r reach) {
	if r.compare(p.heard[id]) > 0 {
		p.heard[id] = r
	}
}

// The first bytes of the messages that say how far disks are, and their sizes.
const (
	storedMessage, disksMessage, generationMessage = 14, 19, 20
	viewBytes, pointBytes                          = 17, 25
)

func viewIn(b []byte) membership.ViewID {
	return membership.ViewID{Sequence: binary.BigEndian.Uint64(b), Leader: timed.NodeID(b[8]), Boot: timed.BootID(binary.BigEndian.Uint64(b[9:]))}
}

func reachIn(b []byte) reach {
	return reach{0, binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[viewBytes:])}
}

// hears notes what a member hears of disks.
func (c *check) hears(m *member, d *broadcast.Delivery) {
	kind, b := d.Payload[0], d.Payload[1:]
	ordered := d.Class == broadcast.ClassOrdered
	if m.view == nil || m.disk == nil || !c.s.opt.Quorum || !(kind == storedMessage && !ordered || (kind == disksMessage || kind == generationMessage) && ordered) || viewIn(b) != m.view.ID {
		return
	}
	switch {
	case kind == storedMessage && m.judged:
		m.hear(d.Sender, c.dated(m, reachIn(b)))
	case kind == storedMessage:
		m.early[d.Sender] = reachIn(b)
	case m.replica.Situation() != replica.Reporting:
	case kind == generationMessage:
		m.dates[d.Sender] = map[timed.NodeID]uint64{}
		for b = b[viewBytes+1:]; len(b) > 0; b = b[9:] {
			m.dates[d.Sender][timed.NodeID(b[0])] = binary.BigEndian.Uint64(b[1:])
		}
	default:
		for b = b[viewBytes+pointBytes+1:]; len(b) > 0; b = b[1+pointBytes:] {
			r := reachIn(b[1:])
			r.generation = m.dates[d.Sender][timed.NodeID(b[0])]
			m.hear(timed.NodeID(b[0]), r)
		}
	}
}

// dated returns how far a disk is that has said so in the view of a member. Disks say so when
// their states have the rank of the view.
func (c *check) dated(m *member, r reach) reach {
	r.generation = c.generations[m.view.ID]
	return r
}

// reaches notes how far a disk is.
func (d *disk) reaches(p replica.Point) {
	if r := reachOf(p); r.compare(d.at) > 0 {
		d.rolledBack = d.rolledBack && r.sequence == d.at.sequence
		d.at = r
	}
}

// knowledge is a process when it enters a view, with its disk and the operations that it has.
type knowledge struct {
	process
	generation uint64 // of its state
	onDisk     reach
	rolledBack bool
	era        replica.Era
	ops        map[opID]bool
}

// knows notes what a member knows when it enters its view.
func (c *check) knows(m *member) {
	if m.disk == nil || !c.s.opt.Quorum {
		return
	}
	if c.knowledge[m.view.ID] == nil {
		c.knowledge[m.view.ID] = map[timed.NodeID]knowledge{}
	}
	k := knowledge{process: m.process, generation: generationOf(m.told.rank), onDisk: m.disk.at, rolledBack: m.disk.rolledBack, era: m.disk.keeper.Place().Era}
	k.heard = maps.Clone(k.heard)
	k.ops = c.keepsKnown(m)
	c.knowledge[m.view.ID][m.inc.Node] = k
	m.early, m.dates = map[timed.NodeID]reach{}, map[timed.NodeID]map[timed.NodeID]uint64{}
	m.saidBehind, m.judged, m.begun = timed.Set{}, false, false
}

// behind returns the members of a view that lack what a member of it has heard of them.
func (c *check) behind(v *membership.View) (set timed.Set) {
	know := c.knowledge[v.ID]
	for id := range v.Set.All() {
		has := know[id].has
		has.generation = know[id].generation
		for _, k := range know {
			if know[id].remembers && has.compare(k.heard[id]) < 0 {
				set.Add(id)
			}
		}
	}
	return set
}

// judges demands, when a member has all reports of its view, that it has named those whose
// disks have gone back, and nobody else. If nobody knew of one, the view may lack what lasted.
func (c *check) judges(m *member) {
	if m.disk == nil || m.judged || !c.s.opt.Quorum {
		return
	}
	m.judged = true
	for id, r := range m.early {
		m.hear(id, c.dated(m, r))
	}
	want := c.behind(m.view)
	if m.saidBehind != want {
		c.fail("rollback", m, "says in %v that the disks of %v have gone back, and those of %v have", m.view.ID, m.saidBehind, want)
	}
	if !m.begun && !m.quorum.IsQuorum(m.view.Set.Minus(want)) {
		c.fail("rollback", m, "goes on in %v, though the disks of %v have gone back and the others are no quorum", m.view.ID, want)
	}
	for id := range m.view.Set.All() {
		switch k := c.knowledge[m.view.ID][id]; {
		case !k.rolledBack && m.saidBehind.Has(id):
			c.fail("rollback", m, "says in %v that the disk of %d has gone back, which has lost nothing", m.view.ID, id)
		case m.saidBehind.Has(id):
			c.s.w.Sometimes(NoticedRollback)
			c.forgot = true
		case k.rolledBack && k.has == k.onDisk:
			c.s.w.Sometimes(MissedRollback)
			c.forgiven = len(c.lasting)
		}
	}
}

// survives returns the operations of those members of a view that may have what lasts: they say
// that they remember, and are of the quorum system of the newest state. A view that begins
// without a quorum of members that remember must keep them.
func (c *check) survives(m *member) map[opID]bool {
	know, claim, era := c.knowledge[m.view.ID], timed.Set{}, replica.Era{}
	for id, k := range know {
		if k.remembers {
			claim.Add(id)
		}
		if k.era.Epoch > era.Epoch {
			era = k.era
		}
	}
	ops := map[opID]bool{}
	for id := range ofSystem(era, claim).All() {
		maps.Copy(ops, know[id].ops)
	}
	return ops
}
