package failaware

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/failaware/failaware/internal/loop"
	"github.com/failaware/failaware/internal/loop/statedir"
	"github.com/failaware/failaware/leader"
)

// Errors to compare with [errors.Is]. Where a struct of a similar name exists,
// [errors.As] gives the details.
var (
	// ErrClosed: the node has stopped.
	ErrClosed = loop.ErrClosed
	// ErrNotLeader: this node does not lead, or not surely for long enough.
	ErrNotLeader = errors.New("failaware: this node does not lead")
	// ErrNoLeader: no leader was found in time.
	ErrNoLeader = errors.New("failaware: no leader was found")
	// ErrSuccessor: the lead cannot be handed over to the named node.
	ErrSuccessor = errors.New("failaware: no such successor")
	// ErrStaticQuorum: this node's quorum system cannot be replaced: it has none, or no
	// state directory, or [BroadcastConfig.RequireQuorum] without replicated state.
	ErrStaticQuorum = errors.New("failaware: the quorum system of this node cannot be replaced: that needs a quorum system, a state directory, and with Broadcast.RequireQuorum a replicated state")
	// ErrStateNotReady: a quorum of the present or of the next system is not known to have
	// the replicated state, which might be lost with the members that have it.
	ErrStateNotReady = errors.New("failaware: the replicated state is not ready for another quorum system")
	// ErrSuperseded: another quorum system than the one asked for is the next.
	ErrSuperseded = errors.New("failaware: another quorum system comes next")
	// ErrDuplicateID: another process uses this node's id, and keeps it.
	ErrDuplicateID = errors.New("failaware: the id is in use by another process")
	// ErrInUse: another process holds the state directory's lock for this id.
	ErrInUse = statedir.ErrInUse
	// ErrDamaged: a file of the state directory is damaged, or older than the latest that this
	// node wrote.
	ErrDamaged = statedir.ErrDamaged
	// ErrGroup: the state directory has the state of a node of another group.
	ErrGroup = statedir.ErrGroup
	// ErrAwake: processors cannot be kept from sleeping, as [Config.Awake] asks. The
	// text says what is missing.
	ErrAwake = errors.New("failaware: Awake: processors cannot be kept from sleeping")
)

// DuplicateIDError says which incarnation uses the id besides this one. It
// matches [ErrDuplicateID].
type DuplicateIDError struct {
	ID    NodeID
	Boot  BootID // this incarnation, which stopped
	Rival BootID // the one that the peers keep
	// Addr is where a packet of the rival came from, if this node got one.
	Addr netip.AddrPort
}

func (e *DuplicateIDError) Error() string {
	at := ""
	if e.Addr.IsValid() {
		at = ", at " + e.Addr.String()
	}
	return fmt.Sprintf("failaware: node id %v is in use by another process%s: its boot id is %v, and this one's was %v",
		e.ID, at, e.Rival, e.Boot)
}

// Is reports whether target is ErrDuplicateID.
func (e *DuplicateIDError) Is(target error) bool { return target == ErrDuplicateID }

// NotLeaderError says why a leader context ended, or that something was refused that
// only a leader may do, and who leads instead. It matches [ErrNotLeader].
type NotLeaderError struct {
	Reason leader.Reason // NoReason when the lease was about to run out, or the node stopped
	By     NodeID        // whose message or silence caused it, if anyone's
	Global bool          // it is about the global lead
	// Leader is the node that leads instead, as far as this node knows, in a refusal.
	// [Node.FindLeader] makes sure of it.
	Leader NodeID

	refused bool // it says nothing of an earlier lead
	never   bool // this node cannot lead globally: it has no quorum system
}

func (e *NotLeaderError) Error() string {
	lead := "lead"
	if e.Global {
		lead = "lead globally"
	}
	switch {
	case e.never:
		return fmt.Sprintf("failaware: this node does not %s, ever: it has no quorum system", lead)
	case e.refused && e.Leader == NoNode:
		return fmt.Sprintf("failaware: this node does not %s, and knows of nobody who does", lead)
	case e.refused:
		return fmt.Sprintf("failaware: this node does not %s; node %v does, as far as it knows", lead, e.Leader)
	case e.Reason == leader.NoReason:
		return fmt.Sprintf("failaware: this node does not %s: the lease was not renewed in time", lead)
	case e.By == NoNode:
		return fmt.Sprintf("failaware: this node does not %s any more: %v", lead, e.Reason)
	}
	return fmt.Sprintf("failaware: this node does not %s any more: %v (by node %v)", lead, e.Reason, e.By)
}

// Is reports whether target is ErrNotLeader.
func (e *NotLeaderError) Is(target error) bool { return target == ErrNotLeader }

// failure returns the error of a loop that has ended.
func (n *Node) failure(err error) error {
	if e, ok := err.(*loop.DuplicateIDError); ok {
		return &DuplicateIDError{ID: n.cfg.ID, Boot: e.Boot, Rival: e.Rival, Addr: e.Addr}
	}
	return err
}

// refusal turns the refusal of a loop that does not lead into an error that names
// the leader. It returns other errors as they are.
func (n *Node) refusal(err error, global bool) error {
	if errors.Is(err, loop.ErrNotLeader) {
		return n.refuse(global)
	}
	return err
}

// refuse returns the error of an action that only a leader may take.
func (n *Node) refuse(global bool) error {
	to := n.Leader().Leader
	if global {
		to = n.GlobalLeader().Leader
	}
	if to == n.cfg.ID {
		to = NoNode // it has just begun to lead
	}
	return &NotLeaderError{Global: global, Leader: to, refused: true, never: global && n.neverGlobal()}
}

// neverGlobal reports whether this node has no quorum system, and never gets one.
func (n *Node) neverGlobal() bool {
	e := n.Epoch()
	return e.Static && e.System == ""
}

// lostError returns why a lead ended.
func lostError(l *loop.Lost, global bool) error {
	if l == nil {
		return &NotLeaderError{Global: global}
	}
	return &NotLeaderError{Reason: l.Reason, By: l.By, Global: global}
}
