package epoch

import (
	"errors"
	"fmt"

	"github.com/failaware/failaware/internal/enum"
	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/timed"
)

// System is a quorum system: any two of its quorums have a member in common.
type System interface {
	// Members returns the nodes whose votes count. There is one at least.
	Members() timed.Set
	// IsQuorum reports whether the set contains a quorum. Nodes that are not members
	// do not count.
	IsQuorum(timed.Set) bool
	// Digest tells quorum systems apart.
	Digest() uint64
	// String returns the canonical text of the system.
	String() string
}

// MaxSystem is the length in bytes of the longest text of a quorum system.
const MaxSystem = 1024

// Phase is the progress of a change of the quorum system that a node knows of.
type Phase uint8

const (
	// Idle: the node knows of no change.
	Idle Phase = iota
	// Noted: the node has durably noted a leader's proposal.
	Noted
	// Chosen: the node knows the chosen successor and no longer votes.
	Chosen
	// Wedged: the node has durably stopped voting in this epoch.
	Wedged
)

func (p Phase) String() string {
	switch p {
	case Noted:
		return "noted"
	case Chosen:
		return "chosen"
	case Wedged:
		return "wedged"
	}
	return "idle"
}

// MarshalText returns the text of [Phase.String].
func (p Phase) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads the text of [Phase.String].
func (p *Phase) UnmarshalText(text []byte) error { return enum.Unmarshal(p, text, Wedged) }

// State is a node's knowledge of the epoch that it has entered. A node reports it to
// others, and persists it except in phase [Chosen].
type State struct {
	// Epoch is the number of the epoch; 0 means that the node knows none.
	Epoch uint64
	// System is the text of the quorum system that rules it.
	System string
	Phase  Phase
	// Next is the text of its successor, proposed or chosen.
	Next string
	// Edict is the edict of the noted proposal.
	Edict edict.Edict
	// Agreed means that a quorum has noted Next under one edict.
	Agreed bool
	// Dead holds the members that an administrator has declared dead to force Next.
	Dead timed.Set
}

// Proposal returns the payload of the edict that proposes the successor of an epoch.
func Proposal(epoch uint64, next string) []byte {
	return fmt.Appendf(nil, "failaware epoch %d: %s", epoch+1, next)
}

// check reports whether a node can be in the state.
func (s *State) check() error {
	switch {
	case s.Epoch == 0 && (s.System != "" || s.Phase != Idle):
		return errors.New("epoch: a quorum system or a phase in epoch 0")
	case s.Epoch > 0 && s.System == "":
		return fmt.Errorf("epoch: epoch %d has no quorum system", s.Epoch)
	case len(s.System) > MaxSystem || len(s.Next) > MaxSystem:
		return fmt.Errorf("epoch: the text of a quorum system is longer than %d bytes", MaxSystem)
	case s.Phase > Wedged:
		return fmt.Errorf("epoch: unknown phase %d", s.Phase)
	case (s.Phase == Idle) != (s.Next == ""):
		return fmt.Errorf("epoch: a successor in phase %v", s.Phase)
	case s.Phase < Chosen && (s.Agreed || !s.Dead.Empty()):
		return fmt.Errorf("epoch: agreed or forced in phase %v", s.Phase)
	case s.Phase >= Chosen && !s.Agreed && s.Dead.Empty():
		return fmt.Errorf("epoch: %v, but neither agreed nor forced", s.Phase)
	case s.Phase != Noted && len(s.Edict.Stamps) > 0:
		return fmt.Errorf("epoch: an edict in phase %v", s.Phase)
	case s.Phase != Noted:
		return nil
	case s.Edict.Epoch != s.Epoch || s.Edict.Digest != edict.Sum(Proposal(s.Epoch, s.Next)):
		return errors.New("epoch: the edict belongs to another proposal")
	}
	return s.Edict.Validate()
}
