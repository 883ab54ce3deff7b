package failaware

import (
	"errors"
	"fmt"
	"time"

	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// Errors to compare with [errors.Is]. Where a struct of a similar name exists,
// [errors.As] gives the details.
var (
	// ErrClosed: the node has stopped.
	ErrClosed = errors.New("failaware: the node has stopped")
	// ErrNotLeader: this node does not lead, or not surely for long enough.
	ErrNotLeader = errors.New("failaware: this node does not lead")
	// ErrNoLeader: no leader was found in time.
	ErrNoLeader = errors.New("failaware: no leader was found")
	// ErrSuccessor: the lead cannot be handed over to the named node.
	ErrSuccessor = errors.New("failaware: no such successor")
	// ErrStaticQuorum: this node's quorum system cannot be replaced: it has none, or
	// no state directory.
	ErrStaticQuorum = errors.New("failaware: the quorum system of this node cannot be replaced: that needs Quorum or JoinQuorum, and StateDir")
	// ErrSuperseded: another quorum system than the one asked for is the next.
	ErrSuperseded = errors.New("failaware: another quorum system comes next")
	// ErrDuplicateID: another process uses this node's id, and keeps it.
	ErrDuplicateID = errors.New("failaware: the id is in use by another process")
	// ErrMismatch: a peer has other settings that must be the same everywhere.
	ErrMismatch = errors.New("failaware: settings differ from a peer's")
	// ErrInUse: another process holds the state directory's lock for this id.
	ErrInUse = errors.New("failaware: the state is locked by another process")
	// ErrDamaged: a file of the state directory is not what was written there.
	ErrDamaged = errors.New("failaware: damaged state")
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
}

func (e *DuplicateIDError) Error() string {
	return fmt.Sprintf("failaware: node id %v is in use by another process: its boot id is %v, and this one's was %v",
		e.ID, e.Rival, e.Boot)
}

// Is reports whether target is ErrDuplicateID.
func (e *DuplicateIDError) Is(target error) bool { return target == ErrDuplicateID }

// MismatchError names a peer whose ρ or Δ differs, and both values. It matches
// [ErrMismatch].
type MismatchError struct {
	Peer NodeID
	// ρ in parts per billion: of this node, and of the peer.
	MaxDrift, PeerMaxDrift timed.Drift
	// Δ: of this node, and of the peer.
	FastThreshold, PeerFastThreshold time.Duration
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("failaware: settings differ from those of node %v: %s", e.Peer, e.detail())
}

// detail names the settings that differ.
func (e *MismatchError) detail() string {
	drift := fmt.Sprintf("MaxDrift is %d ppb here and %d ppb there", int64(e.MaxDrift), int64(e.PeerMaxDrift))
	fast := fmt.Sprintf("FastThreshold is %v here and %v there", e.FastThreshold, e.PeerFastThreshold)
	switch {
	case e.MaxDrift == e.PeerMaxDrift:
		return fast
	case e.FastThreshold == e.PeerFastThreshold:
		return drift
	}
	return drift + "; " + fast
}

// Is reports whether target is ErrMismatch.
func (e *MismatchError) Is(target error) bool { return target == ErrMismatch }

// NotLeaderError says why a leader context ended, or that what only a leader may do
// was refused, and who leads instead. It matches [ErrNotLeader].
type NotLeaderError struct {
	Reason leader.Reason // NoReason when the lease was about to run out, or the node stopped
	By     NodeID        // whose message or silence caused it, if anyone's
	Global bool          // it is about the global lead
	// Leader is who leads instead, as far as the node knows, in a refusal.
	// [Node.FindLeader] makes sure of it.
	Leader NodeID

	refused bool // nothing is said of a lead of before
}

func (e *NotLeaderError) Error() string {
	lead := "lead"
	if e.Global {
		lead = "lead globally"
	}
	switch {
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
