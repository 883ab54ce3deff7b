package membership

import "github.com/failaware/failaware/timed"

// ViewID names a view. The leader's boot id is part of it, because a restarted leader
// must never give two views the same id.
type ViewID struct {
	Sequence uint64
	Leader   timed.NodeID
	Boot     timed.BootID
}

// None reports whether the id is zero and names no view.
func (v ViewID) None() bool { return v.Sequence == 0 }

// Member is one incarnation in a view, and the view that it came from.
type Member struct {
	timed.Incarnation
	Previous ViewID // none for a node that had no view
}

// View is an agreed group. It is immutable, and its holders share it.
type View struct {
	ID      ViewID
	Members []Member  // in the order of ids
	Set     timed.Set // their ids
}

// Member returns the member with the given id, if there is one.
func (v *View) Member(id timed.NodeID) (Member, bool) {
	if v == nil || !v.Set.Has(id) {
		return Member{}, false
	}
	return v.Members[v.Set.Rank(id)], true
}

// Has reports whether an incarnation is a member.
func (v *View) Has(i timed.Incarnation) bool {
	return v != nil && v.Set.Has(i.Node) && v.Members[v.Set.Rank(i.Node)].Boot == i.Boot
}

// same reports whether two views have the same incarnations as members. v may be nil.
func (v *View) same(w *View) bool {
	if v == nil || v.Set != w.Set {
		return false
	}
	for i := range v.Members {
		if v.Members[i].Incarnation != w.Members[i].Incarnation {
			return false
		}
	}
	return true
}

// Transitional returns the members of v that came from the view prev. They moved from
// prev to v together.
func (v *View) Transitional(prev ViewID) timed.Set {
	var s timed.Set
	if v == nil {
		return s
	}
	for i := range v.Members {
		if v.Members[i].Previous == prev && !prev.None() {
			s.Add(v.Members[i].Node)
		}
	}
	return s
}

// Branch is one of the previous views whose members meet in a view.
type Branch struct {
	From    ViewID // none for nodes that had no view
	Members timed.Set
}

// Merged returns the branches that meet in the view, in the order of their smallest
// members, so that an application knows which states to reconcile.
func (v *View) Merged() []Branch {
	if v == nil {
		return nil
	}
	var bs []Branch
next:
	for i := range v.Members {
		m := &v.Members[i]
		for j := range bs {
			if bs[j].From == m.Previous {
				bs[j].Members.Add(m.Node)
				continue next
			}
		}
		bs = append(bs, Branch{m.Previous, timed.SetOf(m.Node)})
	}
	return bs
}

// PartKind is the kind of a request's view part.
type PartKind uint8

const (
	// NoPart: the request has no view part.
	NoPart PartKind = iota
	// Renew extends the lease on a committed view.
	Renew
	// Propose asks for acknowledgements of the next view.
	Propose
	// Commit announces a view that all members have acknowledged, and grants a lease.
	Commit
)

// Part is the view part of a leader's request.
type Part struct {
	Kind  PartKind
	ID    ViewID        // of the view that it is about
	Until timed.Instant // Renew, Commit: end of the lease, on the leader's clock
	// Answered belongs to Renew: every member has answered the request with this number
	// or a later one. 0 means that nothing is said about it.
	Answered timed.Instant
	View     *View // Propose (without lineage), Commit
}

// Report is the view part of a reply.
type Report struct {
	Acknowledged ViewID // the last acknowledged proposal
	Installed    ViewID // the view installed last
	Sequence     uint64 // the largest sequence that the voter knows
}

// MaxSequence bounds sequences on the wire. Sequences in the upper half are ignored, so
// that a successor can always be sent. A holder of the key that forges the last one below
// them ends all views, until the state directories are new.
const MaxSequence = 1 << 62

// reachable is the largest sequence that a node takes part in.
const reachable = MaxSequence / 2
