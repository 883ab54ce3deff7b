package replica

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/fields"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// Place names the state of an application, so that the state can be found again on a disk: the
// state of Earlier or, if Position is not 0, the state at the beginning of View, with the label
// of Earlier, and everything through Position.
type Place struct {
	Earlier
	View     membership.ViewID
	Position uint64
	// Ordered says how far the state contains the ordered messages of each sender, for
	// [broadcast.Service.RecallOrdered]. It belongs to the owner of the Place.
	Ordered []broadcast.Mark
}

// Advance moves the place past an operation that the application has applied. Other members
// may have another operation at the position of a Flushed one. The state then gets a label
// made of its operations.
func (p *Place) Advance(d *broadcast.Delivery) {
	if at := (Name{p.Label, p.View, p.Position}); d.Flushed {
		p.Lineage, p.Position = p.relabeled(at, at.flushed(d.ID)), 0
	} else {
		p.Position = d.Position
	}
	p.Ordered = broadcast.AddMark(p.Ordered, markOf(d))
}

func markOf(d *broadcast.Delivery) broadcast.Mark {
	return broadcast.Mark{Node: d.Sender, Boot: d.Boot, Sequence: d.Sequence}
}

// noteOrdered records, with Stored, that an operation is ordered.
func (m *Replica) noteOrdered(d *broadcast.Delivery) {
	if m.cfg.Stored {
		m.ordered = broadcast.AddMark(m.ordered, markOf(d))
	}
}

// Named returns the state as the Earlier of a new incarnation.
func (p *Place) Named() Earlier {
	e := p.Earlier
	e.Has = p.has()
	if p.Position > 0 {
		e.Lineage = p.through(p.View, p.Position)
	}
	return e
}

// promisedLabel is the label of the first ancestor in the encoding of a place whose node has
// promised more than the state's rank; its position is the promise. No state has this label, so
// that earlier builds read the rest as it is.
var promisedLabel = Label{'p', 'r', 'o', 'm', 'i', 's', 'e', 'd'}

// hasEra marks the encoding of a place whose state has an era, which comes last. The lowest
// bit of the same byte is Remembers.
const hasEra = 2

// AppendPlace appends the encoding of a place.
func AppendPlace(b []byte, p *Place) []byte {
	b = appendName(b, Name{p.Label, p.View, p.Position})
	b = appendName(binary.BigEndian.AppendUint64(b, p.Rank), p.End)
	flags := flag(p.Remembers)
	if p.Era.Epoch > 0 {
		flags |= hasEra
	}
	line := p.Line
	if p.Promised > 0 {
		line = append([]Ancestor{{Label: promisedLabel, Reached: p.Promised}}, line...)
	}
	b = appendAncestors(append(b, flags), line)
	b = binary.BigEndian.AppendUint16(b, uint16(len(p.Ordered)))
	for _, m := range p.Ordered {
		b = binary.BigEndian.AppendUint64(append(b, byte(m.Node)), uint64(m.Boot))
		b = binary.BigEndian.AppendUint64(b, m.Sequence)
	}
	if p.Era.Epoch > 0 {
		b = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint64(b, p.Era.Epoch), uint16(len(p.Era.System)))
		b = append(b, p.Era.System...)
	}
	return b
}

// ParsePlace reads what AppendPlace has appended, and returns what follows it.
func ParsePlace(b []byte) (p Place, rest []byte, err error) {
	r := reader{fields.Reader{Rest: b}}
	n := r.name()
	p = Place{View: n.View, Position: n.Position}
	p.Label, p.Rank, p.End = n.Label, r.Uint64(), r.name()
	flags := r.Byte()
	p.Remembers, p.Line, p.Ordered = flags&1 > 0, r.ancestors(), r.marks()
	if len(p.Line) > 0 && p.Line[0].Label == promisedLabel {
		p.Promised, p.Line = p.Line[0].Reached, p.Line[1:]
	}
	if flags&hasEra > 0 {
		p.Era.Epoch = r.Uint64()
		p.Era.System = string(r.Take(int(r.Uint16())))
	}
	if r.Bad {
		return Place{}, nil, errors.New("replica: not a place")
	}
	return p, r.Rest, nil
}

// locate tells the caller which state the application has from here on.
func (m *Replica) locate(position uint64) {
	if m.cfg.Stored {
		has := Earlier{Lineage: m.lineage, Remembers: m.remembers}
		if m.promised > m.lineage.Rank {
			has.Promised = m.promised
		}
		m.emit(Effect{Kind: Locate, Place: &Place{Earlier: has, View: m.view.ID, Position: position, Ordered: slices.Clone(m.ordered)}})
	}
}

// dislocate tells the caller that the state has no name until the next Locate.
func (m *Replica) dislocate() {
	if m.cfg.Stored {
		m.emit(Effect{Kind: Locate})
	}
}

// HandleStored records that the disk of this node has the state of the application through a
// position of a view in which the node was current, with the rank of the last place there.
func (m *Replica) HandleStored(now timed.Instant, at Point, rank uint64, out []Effect) []Effect {
	return m.turn(now, out, func() {
		m.noteHas(at)
		if m.view == nil || at.View != m.view.ID || m.phase == idle {
			return
		}
		if rank < m.promised {
			m.broadcastPromised()
			return
		}
		m.broadcast(unordered, message{kind: kindStored, at: at})
		m.takeStored(m.cfg.Self.Node, at)
	})
}

// takeStored records the position that a member's disk has. It may precede the last report of
// the view.
func (m *Replica) takeStored(from timed.NodeID, at Point) {
	if !m.cfg.Stored || at.View != m.view.ID {
		return
	}
	if m.phase == settled {
		m.noteConfirmed(confirmed{from, at, m.promised / generation})
	}
	if s := &m.stored[m.view.Set.Rank(from)]; at.Position >= *s {
		*s = at.Position + 1
	}
	m.attain()
	m.checkStored()
}

// checkStored tells the caller how far the state lasts: through the latest position that a
// quorum or, without a Quorum, all members of the view have on their disks. Every later
// quorum then includes one of them, with the rank of this view and at least this position.
// That is enough only for messages that every member delivers before it leaves the view, so
// the caller applies it to regular Strict messages.
func (m *Replica) checkStored() {
	if m.phase != settled {
		return
	}
	best := m.lastsTo
	for _, position := range m.stored {
		if position <= best {
			continue
		}
		var have timed.Set
		for i, s := range m.stored {
			if s >= position {
				have.Add(m.view.Members[i].Node)
			}
		}
		if q := m.cfg.Quorum; q != nil && q.IsQuorum(have) || q == nil && have == m.view.Set {
			best = position
		}
	}
	if best > m.lastsTo {
		m.lastsTo = best
		m.emit(Effect{Kind: Lasts, At: Point{m.view.ID, best - 1}, Lasting: true})
	}
}

// giveUp tells the caller to stop waiting for operations to last.
func (m *Replica) giveUp() {
	if m.cfg.Stored {
		m.emit(Effect{Kind: Lasts})
	}
}
