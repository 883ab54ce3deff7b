package event

import (
	"fmt"

	"github.com/failaware/failaware/timed"
)

// OtherQuorum says that Peer is configured with another quorum system or epoch, or has followed no
// change to that of this node for ten seconds in which it was heard. The two do not vote for each
// other, or their votes do not count in a quorum: a peer that is in a later epoch may vote for a
// local leader. It comes again each minute while they hear each other. A node that does not lead
// may not know of such a peer.
type OtherQuorum struct {
	Header `api:"reason"`
	Peer   timed.NodeID `api:"peer"`
	Epoch  uint64       // 0: it has no quorum system
	Digest uint64       // of its quorum system; 0: it has none
	// Differences are in Quorum, QuorumEpoch or both. There are none if the peer has not
	// named its system, as one of an earlier build.
	Differences Differences
}

// Kind returns "other-quorum".
func (OtherQuorum) Kind() string { return "other-quorum" }

func (e OtherQuorum) String() string {
	if len(e.Differences) > 0 {
		return fmt.Sprintf("%s does not vote for this node, nor this node for it: %v%s", e.node(e.Peer), e.Differences, e.Differences.Remedy())
	}
	if e.Digest == 0 {
		return fmt.Sprintf("%s has no quorum system: it and this node do not vote for each other", e.node(e.Peer))
	}
	return fmt.Sprintf("%s has another quorum system (epoch %d, digest %016x): it and this node do not vote for each other",
		e.node(e.Peer), e.Epoch, e.Digest)
}

// QuorumChange says that the quorum system is being replaced (Node.ChangeQuorum of package
// failaware), or something is wrong about that.
type QuorumChange struct {
	Header
	Step   QuorumStep   `api:"reason"`
	Epoch  uint64       // to which the step belongs, or which has begun
	System string       // the quorum system that it is about
	Peer   timed.NodeID `api:"peer"` // that said so, if any
}

// Kind returns "quorum-change".
func (QuorumChange) Kind() string { return "quorum-change" }

// QuorumStep is the step that a [QuorumChange] reports.
type QuorumStep string

// The steps of a change, and the faults that can show.
const (
	QuorumProposed   QuorumStep = "proposed"   // this node, which leads globally, has proposed System
	QuorumSuperseded QuorumStep = "superseded" // System was proposed before, so the change asked for here is not
	QuorumDecided    QuorumStep = "decided"    // System is known to be the successor
	QuorumEntered    QuorumStep = "entered"    // Epoch has begun here, and System rules it
	QuorumDead       QuorumStep = "dead"       // an administrator has declared this node dead, wrongly
	QuorumConflict   QuorumStep = "conflict"   // Peer knows System as another quorum system of Epoch, or successor of it
	QuorumUnordered  QuorumStep = "unordered"  // proposals do not compare: members have lost their state directories
	QuorumIgnored    QuorumStep = "ignored"    // the configuration names another quorum system than System, which is in use
)

// Wrong reports whether the step needs somebody to look at it.
func (s QuorumStep) Wrong() bool {
	return s == QuorumDead || s == QuorumConflict || s == QuorumUnordered || s == QuorumIgnored
}

func (e QuorumChange) String() string {
	switch e.Step {
	case QuorumProposed:
		return fmt.Sprintf("this node proposes %s as the successor of epoch %d", e.System, e.Epoch)
	case QuorumSuperseded:
		return fmt.Sprintf("what was asked for is not proposed: %s was before, as the successor of epoch %d", e.System, e.Epoch)
	case QuorumDecided:
		return fmt.Sprintf("%s is the successor of epoch %d", e.System, e.Epoch)
	case QuorumEntered:
		return fmt.Sprintf("epoch %d has begun, ruled by %s", e.Epoch, e.System)
	case QuorumDead:
		return fmt.Sprintf("this node was declared dead in epoch %d: it votes no more, until %s rules", e.Epoch, e.System)
	case QuorumConflict:
		return fmt.Sprintf("%s knows %s as another quorum system of epoch %d, or successor of it, than this node: "+
			"a new node was given one instead of JoinQuorum, a change was forced wrongly, or groups are mixed up", e.node(e.Peer), e.System, e.Epoch)
	case QuorumUnordered:
		return fmt.Sprintf("proposals of epoch %d do not compare: members have lost their state directories", e.Epoch)
	}
	return fmt.Sprintf("the configuration names another quorum system than %s of epoch %d, which is in use: it has no effect", e.System, e.Epoch)
}
