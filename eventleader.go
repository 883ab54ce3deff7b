package failaware

import (
	"fmt"

	"github.com/failaware/failaware/leader"
)

// Elected: this node leads.
type Elected struct {
	EventHeader `api:"leader"`
}

// Kind returns "elected".
func (Elected) Kind() string { return "elected" }

func (e Elected) String() string { return "this node leads" }

// LeadLost: this node leads no more.
type LeadLost struct {
	EventHeader
	Reason leader.Reason `api:"reason"`
	By     NodeID        `api:"by"` // whose message or silence caused it, if anyone's
}

// Kind returns "lead-lost".
func (LeadLost) Kind() string { return "lead-lost" }

func (e LeadLost) String() string {
	switch e.Reason {
	case leader.Outranked:
		return fmt.Sprintf("this node leads no more: node %v outranks it", e.By)
	case leader.LeaseExpired:
		return "this node leads no more: its lease ran out before it was renewed"
	case leader.Resigned:
		return "this node leads no more: it resigned"
	case leader.ClockFault:
		return "this node leads no more: its clock cannot be trusted"
	}
	return fmt.Sprintf("this node leads no more: %v%s", e.Reason, by(e.By))
}

// Following: this node's vote is bound to Leader, or to nobody.
type Following struct {
	EventHeader
	Leader NodeID `api:"leader"` // NoNode: nobody
	Boot   BootID `api:"boot"`
}

// Kind returns "following".
func (Following) Kind() string { return "following" }

func (e Following) String() string {
	if e.Leader == NoNode {
		return "this node follows nobody"
	}
	return fmt.Sprintf("this node follows node %v", e.Leader)
}

// Unfit: this node is no candidate, because the votes that its peers grant are too
// short for its own settings (MaxLockTime there, ElectionPeriod here).
type Unfit struct{ EventHeader }

// Kind returns "unfit".
func (Unfit) Kind() string { return "unfit" }

func (e Unfit) String() string {
	return "this node is no candidate: the votes of its peers are too short for its own timing"
}
