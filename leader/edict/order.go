package edict

import (
	"fmt"

	"github.com/failaware/failaware/timed"
)

// Order says how one edict stands to another.
type Order uint8

const (
	// Incomparable: the edicts do not tell which was created first.
	Incomparable Order = iota
	// Before: the first edict was created before the second.
	Before
	// After: the first edict was created after the second.
	After
	// Same: the two are one edict.
	Same
)

func (o Order) String() string {
	switch o {
	case Before:
		return "before"
	case After:
		return "after"
	case Same:
		return "same"
	}
	return "incomparable"
}

// Reason says why two edicts do not compare.
type Reason uint8

const (
	// NoReason is the zero Reason.
	NoReason Reason = iota
	// NoCommonVoter: no node has voted for both. Edicts of local leaders that
	// are no global ones may be so, and those of quorum systems that differ
	// although the epoch is the same.
	NoCommonVoter
	// UnorderedVotes: those that voted for both have restarted in between, and
	// do not count their incarnations: they have no state directory, or their
	// state directory was copied.
	UnorderedVotes
	// Contradiction: the edicts cannot both be what leaders have made. Voters
	// contradict each other or themselves, or one round gave two votes of one
	// voter, or one number to two payloads. That is evidence: of a state
	// directory that was lost or set back, of two nodes with one id, of two
	// quorum systems in one epoch, or of a forgery.
	Contradiction
)

func (r Reason) String() string {
	switch r {
	case NoCommonVoter:
		return "no node voted for both"
	case UnorderedVotes:
		return "those that voted for both restarted in between without counting it"
	case Contradiction:
		return "they contradict each other"
	}
	return "none"
}

// Relation is how one edict stands to another, and why.
type Relation struct {
	Order  Order
	Reason Reason // of Incomparable
	// Voter is the first voter by whose stamps the edicts are ordered, or
	// contradict each other; NoNode if it is none's.
	Voter timed.NodeID
	// Other is the voter that contradicts Voter, if it is not Voter itself.
	Other timed.NodeID
}

func (r Relation) String() string {
	switch {
	case r.Order == Incomparable && r.Other != timed.NoNode:
		return fmt.Sprintf("incomparable: %v (nodes %v and %v)", r.Reason, r.Voter, r.Other)
	case r.Order == Incomparable && r.Voter != timed.NoNode:
		return fmt.Sprintf("incomparable: %v (node %v)", r.Reason, r.Voter)
	case r.Order == Incomparable:
		return fmt.Sprintf("incomparable: %v", r.Reason)
	}
	return r.Order.String()
}

// Compare returns how edict a stands to edict b. Both must be valid.
func Compare(a, b Edict) Order { return Relate(&a, &b).Order }

// Relate is as [Compare], and tells the reason.
//
// The larger epoch is the later one, whatever voters say: a node that has lost
// its state may come back in a new epoch, where its count begins anew. Within an
// epoch every common voter is asked, and one that contradicts another makes the
// edicts incomparable: which of the two is right cannot be known, and a store that
// guessed could obey the past.
func Relate(a, b *Edict) Relation {
	if a.Epoch != b.Epoch {
		return Relation{Order: orderOf(a.Epoch < b.Epoch)}
	}
	var first Relation // what the first voter says that says something
	common, equal := false, timed.NoNode
	for i, j := 0, 0; i < len(a.Stamps) && j < len(b.Stamps); {
		s, t := &a.Stamps[i], &b.Stamps[j]
		if s.Node != t.Node {
			if s.Node < t.Node {
				i++
			} else {
				j++
			}
			continue
		}
		i, j, common = i+1, j+1, true
		order, contradicts := relateStamps(s, t)
		switch {
		case contradicts:
			return Relation{Reason: Contradiction, Voter: s.Node}
		case order == Same && equal == timed.NoNode:
			equal = s.Node
		case order == Before || order == After:
			if first.Order == Incomparable {
				first = Relation{Order: order, Voter: s.Node}
			} else if order != first.Order {
				return Relation{Reason: Contradiction, Voter: first.Voter, Other: s.Node}
			}
		}
	}
	switch {
	case first.Order != Incomparable && equal == timed.NoNode:
		return first
	case first.Order != Incomparable:
		return Relation{Reason: Contradiction, Voter: equal, Other: first.Voter}
	case equal != timed.NoNode:
		return sameRound(a, b, equal)
	case common:
		return Relation{Reason: UnorderedVotes}
	}
	return Relation{Reason: NoCommonVoter}
}

func orderOf(before bool) Order {
	if before {
		return Before
	}
	return After
}

// relateStamps orders two votes of one voter, unless nothing is known.
func relateStamps(s, t *Stamp) (order Order, contradicts bool) {
	switch {
	case s.Boot == t.Boot && s.Counter != t.Counter:
		return Incomparable, true // one incarnation has one number
	case s.Boot == t.Boot && s.At == t.At:
		return Same, false
	case s.Boot == t.Boot:
		return orderOf(s.At < t.At), false
	case s.Counter == t.Counter:
		return Incomparable, false
	case s.Counter == 0 || t.Counter == 0:
		return Incomparable, false // who has no count is not before those that have
	}
	return orderOf(s.Counter < t.Counter), false
}

// sameRound orders two edicts of which a voter's vote is one and the same.
func sameRound(a, b *Edict, voter timed.NodeID) Relation {
	if len(a.Stamps) != len(b.Stamps) {
		return Relation{Reason: Contradiction, Voter: voter}
	}
	for i := range a.Stamps {
		if a.Stamps[i] != b.Stamps[i] {
			return Relation{Reason: Contradiction, Voter: voter, Other: a.Stamps[i].Node}
		}
	}
	switch {
	case a.Counter != b.Counter:
		return Relation{Order: orderOf(a.Counter < b.Counter)}
	case a.Digest != b.Digest:
		return Relation{Reason: Contradiction}
	}
	return Relation{Order: Same}
}
