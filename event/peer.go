package event

import (
	"fmt"
	"time"

	"github.com/failaware/failaware/internal/brief"
	"github.com/failaware/failaware/timed"
)

// PeerAlive says that this node and Peer hear each other in time.
type PeerAlive struct {
	Header
	Peer  timed.NodeID  `api:"peer"`
	Bound time.Duration `api:"bound_ns"` // proven delay bound of its last packet, or [UnknownDelay]
}

// Kind returns "peer-alive".
func (PeerAlive) Kind() string { return "peer-alive" }

func (e PeerAlive) String() string {
	return fmt.Sprintf("%s is alive (delay at most %s)", e.node(e.Peer), boundText(e.Bound))
}

// PeerSilent says that Peer is not alive any more for this node.
type PeerSilent struct {
	Header
	Peer      timed.NodeID  `api:"peer"`
	SilentFor time.Duration `api:"silent_for_ns,omitzero"` // since its last fast packet; 0 when there was none
	LastBound time.Duration `api:"bound_ns"`               // proven delay bound of its last packet, or [UnknownDelay]
	// Deaf says that this node hears the peer well, and the peer does not hear this
	// node: one direction of the link, or the peer, has failed.
	Deaf bool `api:"deaf"`
}

// Kind returns "peer-silent".
func (PeerSilent) Kind() string { return "peer-silent" }

func (e PeerSilent) String() string {
	if e.Deaf {
		return fmt.Sprintf("%s does not hear this node any more, which heard it %s ago (last delay bound %s)",
			e.node(e.Peer), brief.Duration(e.SilentFor), boundText(e.LastBound))
	}
	if e.SilentFor == 0 {
		return fmt.Sprintf("%s is not alive any more: it does not hear this node in time, or was restarted", e.node(e.Peer))
	}
	return fmt.Sprintf("%s is silent: its last packet in time came %s ago (last delay bound %s)",
		e.node(e.Peer), brief.Duration(e.SilentFor), boundText(e.LastBound))
}

// PeerRestarted says that Peer has a new incarnation.
type PeerRestarted struct {
	Header
	Peer timed.NodeID `api:"peer"`
	Boot timed.BootID `api:"boot"` // of the new incarnation
}

// Kind returns "peer-restarted".
func (PeerRestarted) Kind() string { return "peer-restarted" }

func (e PeerRestarted) String() string {
	return fmt.Sprintf("%s was restarted: its boot id is %v", e.node(e.Peer), e.Boot)
}

// PeerCloned says that two processes send as one incarnation of Peer, like a virtual
// machine and its copy with the running memory. This node hears neither any more, until
// they begin new incarnations. One of them must get another id.
type PeerCloned struct {
	Header
	Peer timed.NodeID `api:"peer"`
	Boot timed.BootID `api:"boot"` // that both processes have
}

// Kind returns "peer-cloned".
func (PeerCloned) Kind() string { return "peer-cloned" }

func (e PeerCloned) String() string {
	return fmt.Sprintf("%s runs twice with boot id %v, as a cloned machine does: it is not heard any more", e.node(e.Peer), e.Boot)
}

// PeerDuplicated says that another process sends with Peer's id, and that both run now. Its
// packets are ignored as long as those of the first one come; it stops by itself unless more
// peers hear it than the other. The event comes once for each incarnation of such a process.
type PeerDuplicated struct {
	Header
	Peer timed.NodeID `api:"peer"`
	Boot timed.BootID `api:"boot"`    // of the process that is ignored
	Addr string       `api:"address"` // that it sends from
}

// Kind returns "peer-duplicated".
func (PeerDuplicated) Kind() string { return "peer-duplicated" }

func (e PeerDuplicated) String() string {
	return fmt.Sprintf("two processes have the id of %s: the one at %s, with boot id %v, is ignored; give it an id of its own", e.node(e.Peer), e.Addr, e.Boot)
}

// PeerForgot says that the votes of Peer show that its state directory was lost, was left out,
// or is an older copy: each start is counted there, and the number has not grown since an earlier
// process of Peer. It has forgotten promises of that one. Only the node that it votes for can
// notice that, and only if the earlier process has voted for it as well.
type PeerForgot struct {
	Header
	Peer   timed.NodeID `api:"peer"`
	Boot   timed.BootID `api:"boot"`
	Starts uint64       // that it has counted; 0: it has no state directory
	Before uint64       // that an earlier process of it had counted
}

// Kind returns "peer-forgot".
func (PeerForgot) Kind() string { return "peer-forgot" }

func (e PeerForgot) String() string {
	lost := fmt.Sprintf("its state directory was lost, is an older copy, or cannot be written: its starts are counted as %d, after %d", e.Starts, e.Before)
	if e.Starts == 0 {
		lost = fmt.Sprintf("it runs without its state directory, which had counted %d starts", e.Before)
	}
	return fmt.Sprintf("%s has forgotten its promises: %s; stop it, and see docs/how-to/disasters.md", e.node(e.Peer), lost)
}

// PeerLeaving says that Peer leaves the group.
type PeerLeaving struct {
	Header
	Peer timed.NodeID `api:"peer"`
	Boot timed.BootID `api:"boot"`
	// ForGood: it will not come back, and this node forgets it.
	ForGood bool `api:"for_good"`
}

// Kind returns "peer-leaving".
func (PeerLeaving) Kind() string { return "peer-leaving" }

func (e PeerLeaving) String() string {
	if e.ForGood {
		return fmt.Sprintf("%s leaves for good", e.node(e.Peer))
	}
	return fmt.Sprintf("%s leaves", e.node(e.Peer))
}
