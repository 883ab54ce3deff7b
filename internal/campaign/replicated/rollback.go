package replicated

import (
	"cmp"
	"encoding/binary"
	"maps"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// An older copy of a disk may come back, and its node cannot notice. Others can that have heard
// how far the disk was. Where no member of a view has heard it, operations that lasted may be
// gone.

// reach is how far a disk is: a sequence of views, and a position.
type reach struct{ sequence, position uint64 }

func reachOf(p replica.Point) reach { return reach{p.View.Sequence, p.Position} }

func (r reach) compare(o reach) int {
	return cmp.Or(cmp.Compare(r.sequence, o.sequence), cmp.Compare(r.position, o.position))
}

// gone reports whether a disk that is at r now was beyond it, at o. What was flushed at the end
// of a view has no position on a disk.
func (r reach) gone(o reach) bool {
	return r.compare(o) < 0 && (r.sequence < o.sequence || r.position > 0)
}

// knowledge is what a member knows of the disks when it enters a view.
type knowledge struct {
	own   reach
	heard map[timed.NodeID]reach
}

// storedMessage is the first byte of the messages that say how far a disk is.
const storedMessage = 14

// hears notes what a member hears of another one's disk.
func (m *member) hears(d *broadcast.Delivery) {
	if d.Payload[0] != storedMessage || d.Class == broadcast.ClassOrdered || m.view == nil {
		return
	}
	at := replica.Point{View: membership.ViewID{Sequence: binary.BigEndian.Uint64(d.Payload[1:]), Leader: timed.NodeID(d.Payload[9]),
		Boot: timed.BootID(binary.BigEndian.Uint64(d.Payload[10:]))}, Position: binary.BigEndian.Uint64(d.Payload[18:])}
	if r := reachOf(at); at.View == m.view.ID && r.compare(m.heard[d.Sender]) > 0 {
		m.heard[d.Sender] = r
	}
}

// reaches notes how far a disk is.
func (d *disk) reaches(p replica.Point) {
	if r := reachOf(p); r.sequence > d.at.sequence {
		d.at, d.rolledBack = r, false
	} else if r.sequence == d.at.sequence {
		d.at.position = max(d.at.position, r.position)
	}
}

// knows notes what a member knows when it enters its view.
func (c *check) knows(m *member) {
	if m.disk == nil {
		return
	}
	if c.knowledge[m.view.ID] == nil {
		c.knowledge[m.view.ID] = map[timed.NodeID]knowledge{}
	}
	c.knowledge[m.view.ID][m.inc.Node] = knowledge{m.disk.at, maps.Clone(m.heard)}
	m.saidBehind, m.judged, m.begun = timed.Set{}, false, false
}

// behind returns the members whose disks have gone back, as far as one of them knew.
func (c *check) behind(v *membership.View) (set timed.Set) {
	know := c.knowledge[v.ID]
	for id := range v.Set.All() {
		for other, k := range know {
			if other != id && know[id].own.gone(k.heard[id]) {
				set.Add(id)
			}
		}
	}
	return set
}

// judges demands, when a member has all reports of its view, that it has named exactly the
// disks that have gone back. If nobody knew of one, the view may lack what lasted.
func (c *check) judges(m *member) {
	if m.disk == nil || m.judged || !c.s.opt.Quorum {
		return
	}
	m.judged = true
	want := c.behind(m.view)
	if !m.begun && !m.quorum.IsQuorum(m.view.Set.Minus(want)) {
		c.fail("rollback", m, "goes on in %v, though the disks of %v have gone back and the others are no quorum", m.view.ID, want)
	}
	if m.saidBehind != want {
		c.fail("rollback", m, "says in %v that the disks of %v have gone back, and those of %v have", m.view.ID, m.saidBehind, want)
	}
	if !want.Empty() {
		c.s.w.Sometimes(NoticedRollback)
		c.forgot = true
	}
	for id := range m.view.Set.Minus(want).All() {
		if d := c.s.disks[id-1]; d.rolledBack {
			c.s.w.Sometimes(MissedRollback)
			c.forgiven = len(c.lasting)
		}
	}
}
