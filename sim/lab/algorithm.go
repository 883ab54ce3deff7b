package lab

import (
	"fmt"
	"slices"
	"strings"

	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// Algorithm is an election as a row of the table: a machine with its failure
// detector, or the platform's own.
type Algorithm struct {
	Name  string
	Title string

	// Machine makes the process of one id; nil for the platform's own election.
	Machine  func(self timed.NodeID, r *Ranking, p Pace) Machine
	Detector DetectorKind
	// Synchronized gives the machine a clock that is within Pace.Skew of all others.
	Synchronized bool

	// Mode is that of the platform's own election, and Global counts only those of its
	// leaders as leaders that a majority of all processes supports.
	Mode   leader.Mode
	Global bool

	// Promises are the specifications that the algorithm claims to satisfy on any
	// network. Promises that rest on more, such as synchrony, are not among them.
	Promises []SpecName
}

func (a *Algorithm) promises(name SpecName) bool { return slices.Contains(a.Promises, name) }

// Own reports whether it is the platform's own election.
func (a *Algorithm) Own() bool { return a.Machine == nil }

// DetectorKind chooses a failure detector.
type DetectorKind uint8

// The failure detectors.
const (
	NoDetector DetectorKind = iota // suspects no process
	ByPing
	ByPhi
	ByFastMessages
)

func ringBy(s Suppression, repair Repair) func(timed.NodeID, *Ranking, Pace) Machine {
	return func(self timed.NodeID, r *Ranking, p Pace) Machine { return NewRing(self, r, s, repair, p) }
}

func bully(self timed.NodeID, r *Ranking, p Pace) Machine { return NewBully(self, r, p) }

func invitation(self timed.NodeID, r *Ranking, p Pace) Machine { return NewInvitation(self, r, p) }

func majority(self timed.NodeID, r *Ranking, p Pace) Machine { return NewMajority(self, r, p) }

func nerio(c Clocks) func(timed.NodeID, *Ranking, Pace) Machine {
	return func(self timed.NodeID, r *Ranking, p Pace) Machine { return NewNerio(self, r, c, p) }
}

// Algorithms returns all algorithms, in the order of tables.
func Algorithms() []Algorithm {
	lease := []SpecName{SO, LS, Uniqueness, Stability, Eventual}
	return []Algorithm{
		{Name: "ring", Title: "ring (Chang and Roberts), repaired by the process that suspects",
			Machine: ringBy(ByParticipant, ByDetector), Detector: ByPing},
		{Name: "ring-initiator", Title: "ring that suppresses lower initiators",
			Machine: ringBy(ByInitiator, ByDetector), Detector: ByPing},
		{Name: "ring-predecessor", Title: "ring, repaired by the leader's predecessor",
			Machine: ringBy(ByParticipant, ByPredecessor), Detector: ByPing},
		{Name: "bully", Title: "bully, with ping time-outs", Machine: bully, Detector: ByPing},
		{Name: "bully-phi", Title: "bully, with the φ-accrual detector", Machine: bully, Detector: ByPhi},
		{Name: "bully-fast", Title: "bully, with the alive set of fast messages", Machine: bully, Detector: ByFastMessages},
		{Name: "invitation", Title: "invitation (Garcia-Molina)", Machine: invitation, Promises: []SpecName{Assertion3, Assertion4Prime}},
		{Name: "majority", Title: "votes of a majority and master leases, as Chubby's", Machine: majority, Promises: lease},
		{Name: "nerio-drift", Title: "Nerio with bounded drift (OQwBD)", Machine: nerio(BoundedDrift), Detector: ByPing, Promises: lease},
		{Name: "nerio-skew", Title: "Nerio with bounded skew (OQwBS)", Machine: nerio(BoundedSkew), Detector: ByPing, Synchronized: true, Promises: lease},
		{Name: "local", Title: "our local election, mode available", Mode: leader.Available,
			Promises: []SpecName{Safety, Liveness, Assertion3, Assertion4Prime, SO, LS, T, Stability, Eventual}},
		{Name: "local-strict", Title: "our local election, mode strict", Mode: leader.Strict,
			Promises: []SpecName{Safety, Liveness, Assertion3, SO, LS, BI, T, Stability, Eventual}},
		{Name: "local-global", Title: "our local election, leaders of a majority only", Mode: leader.Available, Global: true,
			Promises: []SpecName{Safety, Liveness, Assertion3, SO, LS, Uniqueness, Stability, Eventual}},
	}
}

// FindAlgorithms returns the algorithms of a list of names separated by commas,
// or all of them for "all". The error names an unknown one.
func FindAlgorithms(names string) ([]Algorithm, error) {
	all := Algorithms()
	return find("algorithm", names, all, func(a *Algorithm) string { return a.Name })
}

func find[E any](what, names string, all []E, name func(*E) string) (out []E, err error) {
	if names == "all" {
		return all, nil
	}
next:
	for n := range strings.SplitSeq(names, ",") {
		var known []string
		for i := range all {
			if known = append(known, name(&all[i])); name(&all[i]) == n {
				if slices.ContainsFunc(out, func(e E) bool { return name(&e) == n }) {
					return nil, fmt.Errorf("lab: %s %s is named twice", what, n)
				}
				out = append(out, all[i])
				continue next
			}
		}
		return nil, fmt.Errorf("lab: there is no %s %q: the names are all, %s", what, n, strings.Join(known, ", "))
	}
	return out, nil
}
