package event

import (
	"fmt"

	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// Elected says that this node leads.
type Elected struct {
	Header `api:"leader"`
	Global bool // it leads globally, and not only its logical partition
}

// Kind returns "elected" or "global-elected".
func (e Elected) Kind() string {
	if e.Global {
		return "global-elected"
	}
	return "elected"
}

func (e Elected) String() string { return "this node leads" + globally(e.Global) }

// LeadLost says that this node leads no more. Without the global lead it may lead on
// locally.
type LeadLost struct {
	Header
	Global bool          // it is about the global lead
	Reason leader.Reason `api:"reason"`
	By     timed.NodeID  `api:"by"` // whose message or silence caused it, if anyone's
}

// Kind returns "lead-lost" or "global-lost".
func (e LeadLost) Kind() string {
	if e.Global {
		return "global-lost"
	}
	return "lead-lost"
}

func (e LeadLost) String() string {
	return fmt.Sprintf("this node leads%s no more: %s", globally(e.Global), e.why())
}

func (e LeadLost) why() string {
	switch {
	case e.Reason == leader.Resigned:
		return "it resigned"
	case e.Global && e.Reason == leader.NoQuorum:
		return "no quorum has renewed its lease"
	case e.Global:
		// The reasons below are of the local lead.
	case e.Reason == leader.Outranked:
		return fmt.Sprintf("%s outranks it", e.node(e.By))
	case e.Reason == leader.LeaseExpired:
		return "its lease ran out before it was renewed"
	case e.Reason == leader.Distrusted:
		return "its incarnation has ended, and a new one begins"
	}
	return fmt.Sprintf("%v%s", e.Reason, e.by(e.By))
}

// Following says that this node's vote is bound to Leader, or to nobody.
type Following struct {
	Header
	Leader timed.NodeID `api:"leader"` // NoNode: nobody
	Boot   timed.BootID `api:"boot"`   // the leader's; 0 with NoNode
}

// Kind returns "following".
func (Following) Kind() string { return "following" }

func (e Following) String() string {
	if e.Leader == timed.NoNode {
		return "this node follows nobody"
	}
	return fmt.Sprintf("this node follows %s", e.node(e.Leader))
}

// Unfit says that this node is not a candidate, because the votes that its peers grant are
// too short for its own settings (MaxLockTime there, ElectionPeriod here).
type Unfit struct{ Header }

// Kind returns "unfit".
func (Unfit) Kind() string { return "unfit" }

func (e Unfit) String() string {
	return "this node is no candidate: the votes of its peers are too short for its own timing"
}
