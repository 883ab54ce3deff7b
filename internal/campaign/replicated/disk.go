package replicated

import (
	"slices"
	"time"

	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/internal/session"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// disk is the disk of a machine, which keeps the state of the application as the journal
// of package replicate does: in entries that are flushed together, all or none. When a
// process ends, what was being flushed may be on the disk, and later entries are not.
type disk struct {
	state    *state
	place    replica.Place
	flushing []entry
	waiting  []entry
	named    bool // the entries continue what is on the disk; otherwise a whole state comes next
}

// entry is an operation, or a place of the state, which is whole if the entry does not
// continue the one before.
type entry struct {
	op    []byte
	place *replica.Place // after it
	whole []byte
}

func newDisk(l *session.Limits) *disk { return &disk{state: newState(l), named: true} }

// write appends an entry.
func (s *run) write(m *member, e entry) {
	d := m.disk
	d.waiting = append(d.waiting, e)
	if len(d.flushing) == 0 {
		s.flush(m)
	}
}

// flush flushes all entries that wait. Disks are slow, and some fail: the process then
// ends, because nobody knows what is on the disk.
func (s *run) flush(m *member) {
	d := m.disk
	d.flushing, d.waiting = d.waiting, nil
	m.after(time.Duration(s.rand.Below(s.load.flush)), func() {
		if s.rand.Chance(s.load.broken) && !s.done {
			s.w.Sometimes(Failed)
			s.restart(m)
			return
		}
		at := d.flushing[len(d.flushing)-1].place
		d.settle(d.flushing)
		d.flushing = nil
		s.perform(m, m.replica.HandleStored(m.n.Instant(), replica.Point{View: at.View, Position: at.Position}, nil))
		if len(d.waiting) > 0 && len(d.flushing) == 0 {
			s.flush(m)
		}
	})
}

// settle has entries on the disk.
func (d *disk) settle(entries []entry) {
	for _, e := range entries {
		switch {
		case e.whole != nil:
			d.state.restore(e.whole)
		case e.op != nil:
			d.state.apply(e.op)
		}
		d.place = *e.place
	}
}

// recover returns what a process finds that starts.
func (s *run) recover(d *disk) (*state, replica.Earlier) {
	if len(d.flushing) > 0 && s.rand.Chance(0.5) {
		s.w.Sometimes(Torn)
		d.settle(d.flushing)
	}
	d.flushing, d.waiting, d.named = nil, nil, true
	return d.state.parse(d.state.canonical()), d.place.Named()
}

// keep writes down what the application has just done.
func (s *run) keep(m *member, e *replica.Effect) {
	d := m.disk
	if d == nil {
		return
	}
	switch e.Kind {
	case replica.Apply:
		if d.named {
			p := m.place
			p.Ordered = slices.Clone(p.Ordered)
			p.Advance(&e.Delivery)
			m.place = p
			s.write(m, entry{op: e.Delivery.Payload, place: &p})
		}
	case replica.Restore, replica.Merge:
		d.named = false
	case replica.Locate:
		if e.Place == nil {
			d.named = false
			return
		}
		m.place = *e.Place
		p := m.place
		if d.named {
			s.write(m, entry{place: &p})
		} else {
			s.write(m, entry{whole: m.app.canonical(), place: &p})
		}
		d.named = true
	}
}

// restart crashes a process, and starts it again. While the world is held still, which
// refuses all faults, it tries again later.
func (s *run) restart(m *member) {
	if err := s.w.Inject(fault.Fault{Kind: fault.Crash, Node: m.inc.Node, For: 10 * time.Millisecond}); err != nil {
		m.after(timed.LAN().Expires, func() { s.restart(m) })
	}
}
