package wire

import (
	"math"

	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// A member is an array of its id, its boot id, and the view that it comes from:
//
//	[id, boot]                          the previous member's; none for the first member
//	[id, boot, 0]                       none
//	[id, boot, sequence, leader]        led by a member, whose boot id is left out
//	[id, boot, sequence, leader, boot]  led by a node that is not a member
//
// Packets are largest after a crash, when all members come from one view, and when
// nodes that were alone meet, when each comes from a view that it led itself. Both
// cases have short forms.
const (
	memberSame    = 2
	memberNowhere = 3
	memberOfPeer  = 4
	memberOfOther = 5
)

// minMember is how many bytes a member takes at least.
const minMember = 3

// checkPart returns an error if the fields of a part do not belong to its kind, or
// if its view is impossible.
func checkPart(p *membership.Part) error {
	switch p.Kind {
	case membership.NoPart:
		if *p != (membership.Part{}) {
			return ErrRange
		}
		return nil
	case membership.Renew:
		if p.View != nil {
			return ErrView
		}
		if p.Answered > p.Until {
			return ErrRange
		}
	case membership.Propose:
		if p.Until != 0 || p.Answered != 0 {
			return ErrRange
		}
		if !viewValid(p.View, p.ID, false) {
			return ErrView
		}
	case membership.Commit:
		if p.Answered != 0 {
			return ErrRange
		}
		if !viewValid(p.View, p.ID, true) {
			return ErrView
		}
	default:
		return ErrRange
	}
	if p.ID.None() {
		return ErrRange
	}
	return nil
}

// viewValid reports whether a view has the given id, members in ascending order of
// their ids, its leader among them, and a lineage only if lineage is set.
func viewValid(v *membership.View, id membership.ViewID, lineage bool) bool {
	if v == nil || v.ID != id || len(v.Members) > timed.MaxNodes {
		return false
	}
	var set timed.Set
	last := timed.NoNode
	for i := range v.Members {
		m := &v.Members[i]
		if m.Node <= last || m.Boot == 0 || !lineage && m.Previous != (membership.ViewID{}) {
			return false
		}
		last = m.Node
		set.Add(m.Node)
	}
	return set == v.Set && v.Has(timed.Incarnation{Node: id.Leader, Boot: id.Boot})
}

// members writes the members of a valid view.
func (w *writer) members(v *membership.View, lineage bool) {
	w.array(len(v.Members))
	var prev membership.ViewID
	for i := range v.Members {
		m := &v.Members[i]
		form := memberSame
		switch {
		case !lineage || m.Previous == prev:
		case m.Previous.None():
			form = memberNowhere
		case v.Has(timed.Incarnation{Node: m.Previous.Leader, Boot: m.Previous.Boot}):
			form = memberOfPeer
		default:
			form = memberOfOther
		}
		w.array(form)
		w.uint(uint64(m.Node), 1, timed.MaxNodes)
		w.uint(uint64(m.Boot), 1, math.MaxUint64)
		prev = m.Previous
		switch form {
		case memberNowhere:
			w.uint(0, 0, 0)
			if prev != (membership.ViewID{}) {
				w.fail(ErrRange)
			}
		case memberOfPeer:
			w.uint(prev.Sequence, 1, membership.MaxSequence)
			w.uint(uint64(prev.Leader), 1, timed.MaxNodes)
		case memberOfOther:
			w.viewID(prev)
		}
	}
}

// members reads the members of a view. It allocates for at most as many members as
// the remaining bytes can hold.
func (r *reader) members(id membership.ViewID, lineage bool) *membership.View {
	n := r.array(1, timed.MaxNodes)
	if r.err == nil && n > r.left()/minMember {
		r.fail(ErrTruncated)
	}
	if r.err != nil {
		return nil
	}
	v := &membership.View{ID: id, Members: make([]membership.Member, n)}
	most := memberSame
	if lineage {
		most = memberOfOther
	}
	var prev membership.ViewID
	last := timed.NoNode
	for i := range v.Members {
		form := r.array(memberSame, most)
		m := &v.Members[i]
		m.Node = r.node(1)
		m.Boot = timed.BootID(r.uint(1, math.MaxUint64))
		switch form {
		case memberNowhere:
			r.uint(0, 0)
			prev = membership.ViewID{}
		case memberOfPeer: // the boot id may be that of a later member
			prev = membership.ViewID{Sequence: r.uint(1, membership.MaxSequence), Leader: r.node(1)}
		case memberOfOther:
			prev = r.viewID()
			if prev.None() {
				r.fail(ErrRange)
			}
		}
		m.Previous = prev
		if m.Node <= last {
			r.fail(ErrView)
		}
		if r.err != nil {
			return nil
		}
		last = m.Node
		v.Set.Add(m.Node)
	}
	for i := range v.Members {
		p := &v.Members[i].Previous
		if p.None() || p.Boot != 0 {
			continue
		}
		l, ok := v.Member(p.Leader)
		if !ok {
			r.fail(ErrView)
			return nil
		}
		p.Boot = l.Boot
	}
	return v
}
