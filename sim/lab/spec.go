package lab

import (
	"fmt"
	"time"

	"github.com/failaware/failaware/timed"
)

// A spec is a specification of the literature as a checker of one run. It sees the world
// after every change, and when a bound has passed. It may have a premise: tested reports
// whether the premise held.
type spec interface {
	// look checks the state from v.now on.
	look(v *observation) (tested bool, err error)
	// close checks the last state of a time without changes of connectivity.
	close(v *observation) (tested bool, err error)
}

// observation is the world as a spec sees it.
type observation struct {
	*state
	g       *graph
	ranking *Ranking
	now     time.Duration
	still   time.Duration                                     // the time of the last change of connectivity
	joined  [MaxProcesses + 1][MaxProcesses + 1]time.Duration // the times at which two became connected
	changed bool                                              // the state, since the last look
	// bound is κ, within which a Δ-partition must have a leader; calm is Stoller's c,
	// within which groups must become final.
	bound, calm time.Duration
	longest     time.Duration // the longest time that a vote binds
	blocks      []mask        // the Δ-partitions of g
	least       int           // a minimum clique cover of g; 0: not known
}

// connectedFor reports whether two processes have been connected for a time.
func (v *observation) connectedFor(p, q timed.NodeID, d time.Duration) bool {
	return v.g.joined(p, q) && v.now-v.joined[p][q] >= d
}

// stable reports whether connectivity has been still for long enough.
func (v *observation) stable() bool { return v.now-v.still >= v.calm }

// SpecName names a specification.
type SpecName string

// The specifications, in the order of tables.
const (
	// Safety and Liveness of the lectures, where all that run are connected: in the
	// end no process accepts a leader other than the best, and each accepts one.
	Safety   SpecName = "safety"
	Liveness SpecName = "liveness"
	// Assertion3 of Garcia-Molina: the members of one group have one leader.
	Assertion3 SpecName = "assertion 3"
	// Assertion4: in the end each maximal clique of the connected is in one group
	// that one of it leads.
	Assertion4 SpecName = "assertion 4"
	// Assertion4Prime of Stoller: in a stable system all soon have a leader that they
	// can reach, in no more groups than cliques cover them, and nothing changes any
	// more.
	Assertion4Prime SpecName = "assertion 4'"
	// SO, LS, BI and T of Fetzer and Cristian: no process supports two leaders; leaders
	// support themselves; a process connected with a leader for κ supports it; a
	// Δ-partition is led within κ.
	SO SpecName = "SO"
	LS SpecName = "LS"
	BI SpecName = "BI"
	T  SpecName = "T"
	// Uniqueness, Stability and Eventual Election of Nerio: there is never more than
	// one leader in the world; where all of a majority are connected a leader
	// remains one, and there is one in the end.
	Uniqueness SpecName = "uniqueness"
	Stability  SpecName = "stability"
	Eventual   SpecName = "eventual election"
)

// Specs lists the specifications in the order of tables.
func Specs() []SpecName {
	return []SpecName{Safety, Liveness, Assertion3, Assertion4, Assertion4Prime, SO, LS, BI, T, Uniqueness, Stability, Eventual}
}

func newSpec(name SpecName) spec {
	switch name {
	case Safety:
		return atEnd(safety)
	case Liveness:
		return atEnd(liveness)
	case Assertion3:
		return always(assertion3)
	case Assertion4:
		return atEnd(assertion4)
	case Assertion4Prime:
		return new(assertion4Prime)
	case SO:
		return always(supportOnce)
	case LS:
		return always(leaderSupports)
	case BI:
		return always(boundedInconsistency)
	case T:
		return new(timeliness)
	case Uniqueness:
		return always(uniqueness)
	case Stability:
		return new(stability)
	case Eventual:
		return atEnd(eventual)
	}
	panic(fmt.Sprintf("lab: there is no specification %q", name))
}

// always is a specification of every moment.
type always func(v *observation) (bool, error)

func (a always) look(v *observation) (bool, error)  { return a(v) }
func (a always) close(v *observation) (bool, error) { return a(v) }

// atEnd is a specification of the end of a still time that was long enough for
// groups to become final.
type atEnd func(v *observation) (bool, error)

func (a atEnd) look(*observation) (bool, error) { return false, nil }

func (a atEnd) close(v *observation) (bool, error) {
	if !v.stable() {
		return false, nil
	}
	return a(v)
}
