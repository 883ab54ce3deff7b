package edict

import (
	"cmp"
	"fmt"

	"github.com/failaware/failaware/internal/enum"
	"github.com/failaware/failaware/timed"
)

// Order is the relative order of two edicts.
type Order uint8

const (
	// Incomparable: the edicts do not show which was created first.
	Incomparable Order = iota
	// Before: the first edict was created before the second.
	Before
	// After: the first edict was created after the second.
	After
	// Same: the edicts are equal.
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

// MarshalText returns the text of [Order.String].
func (o Order) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads the text of [Order.String].
func (o *Order) UnmarshalText(text []byte) error { return enum.Unmarshal(o, text, Same) }

// Reason explains why two edicts are incomparable.
type Reason uint8

const (
	// NoReason is the zero Reason.
	NoReason Reason = iota
	// NoCommonVoter: no node voted for both. At least one creator led only
	// locally, or two quorum systems have the same epoch.
	NoCommonVoter
	// UnorderedVotes: all common voters restarted in between without counting
	// their incarnations, because they have no state directory or a copied one.
	UnorderedVotes
	// Contradiction: correct leaders cannot have made both edicts. Voters
	// contradict each other or themselves, or one round has two votes of one
	// voter, or one number has two payloads. A state directory was lost or
	// restored from a backup, two nodes share an id, one epoch has two quorum
	// systems, or an edict is forged.
	Contradiction
)

func (r Reason) String() string {
	switch r {
	case NoCommonVoter:
		return "no node voted for both"
	case UnorderedVotes:
		return "all common voters restarted in between without counting it"
	case Contradiction:
		return "they contradict each other"
	}
	return "none"
}

// MarshalText returns the text of [Reason.String].
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads the text of [Reason.String].
func (r *Reason) UnmarshalText(text []byte) error { return enum.Unmarshal(r, text, Contradiction) }

// Relation is the order of two edicts with its reason.
type Relation struct {
	Order  Order
	Reason Reason // if Order is Incomparable
	// Voter is the first voter whose stamps order the edicts or show that they
	// contradict each other, or NoNode.
	Voter timed.NodeID
	// Other is the voter that contradicts Voter, or NoNode if Voter contradicts
	// itself.
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

// Compare returns [Before] if a was created before b, [After] if it was created
// after b, and so on. Both edicts must be valid.
func Compare(a, b Edict) Order { return Relate(&a, &b).Order }

// Relate is like [Compare] but also returns the reason.
//
// The edict with the larger epoch is later, whatever its stamps, because a node
// that lost its state may rejoin in a new epoch with its incarnations counted from
// zero. Within an epoch, all common voters must agree: if two contradict each
// other, a store that believed the wrong one could obey a former leader.
func Relate(a, b *Edict) Relation {
	if a.Epoch != b.Epoch {
		return Relation{Order: orderOf(a.Epoch, b.Epoch)}
	}
	var first Relation // by the first voter with ordered votes
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
	case equal != timed.NoNode:
		return sameRound(a, b, equal)
	case common:
		return Relation{Reason: UnorderedVotes}
	}
	return Relation{Reason: NoCommonVoter}
}

// orderOf orders what differs.
func orderOf[T cmp.Ordered](x, y T) Order {
	if x < y {
		return Before
	}
	return After
}

// relateStamps orders two votes of one voter. It reports a contradiction if the
// votes cannot both be genuine.
func relateStamps(s, t *Stamp) (order Order, contradicts bool) {
	switch {
	case s.Boot == t.Boot && s.Counter != t.Counter:
		return Incomparable, true // an incarnation has one number
	case s.Boot == t.Boot && s.At == t.At:
		return Same, false
	case s.Boot == t.Boot:
		return orderOf(s.At, t.At), false
	case s.Counter == t.Counter:
		return Incomparable, false
	case s.Counter == 0 || t.Counter == 0:
		return Incomparable, false // 0 means not counted
	}
	return orderOf(s.Counter, t.Counter), false
}

// sameRound orders two edicts that carry the same vote of one voter.
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
		return Relation{Order: orderOf(a.Counter, b.Counter)}
	case a.Digest != b.Digest:
		return Relation{Reason: Contradiction}
	}
	return Relation{Order: Same}
}
