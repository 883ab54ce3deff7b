package edict

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/failaware/failaware/timed"
)

// Stamp tells one vote from all others of the same voter.
type Stamp struct {
	Node timed.NodeID // the voter
	// Counter is the number of the voter's incarnation, from its state directory.
	// Zero is said by voters without one.
	Counter uint64
	Boot    timed.BootID
	// At is what the voter's hardware clock showed when it voted. A voter gives
	// no two votes the same At.
	At timed.Instant
}

// Digest is the SHA-256 of what an edict orders.
type Digest [sha256.Size]byte

// Sum returns the digest of a payload.
func Sum(payload []byte) Digest { return sha256.Sum256(payload) }

// Edict is the proof of when a leader decided something.
type Edict struct {
	// Epoch is the number of the quorum system by which the creator led.
	Epoch uint64
	// Stamps are those of the votes of the round that the creator led by: its
	// quorum timestamp. They are sorted by node, and there is at least one.
	Stamps []Stamp
	// Counter tells the edicts of one round apart, and grows. Zero is for a
	// proposal of a new quorum system (package epoch).
	Counter uint64
	// Digest is that of the payload.
	Digest Digest
}

// MaxStamps is how many stamps an edict can have: one of each node.
const MaxStamps = timed.MaxNodes

// Validate returns an error if the edict is none that a leader makes.
func (e *Edict) Validate() error {
	if len(e.Stamps) == 0 {
		return errors.New("edict: it has no stamps")
	}
	last := timed.NoNode
	for i := range e.Stamps {
		s := &e.Stamps[i]
		switch {
		case s.Node == timed.NoNode:
			return errors.New("edict: a stamp names no node")
		case s.Node <= last:
			return fmt.Errorf("edict: the stamp of node %v is not in the order of nodes", s.Node)
		case s.Boot == 0:
			return fmt.Errorf("edict: the stamp of node %v has no boot id", s.Node)
		}
		last = s.Node
	}
	return nil
}

// Voters returns whose votes the edict rests on. A store that knows the quorum
// system of the epoch can tell by it whether the creator led globally.
func (e *Edict) Voters() timed.Set {
	var s timed.Set
	for i := range e.Stamps {
		s.Add(e.Stamps[i].Node)
	}
	return s
}

// Stamp returns the stamp of a voter.
func (e *Edict) Stamp(id timed.NodeID) (Stamp, bool) {
	i, ok := slices.BinarySearchFunc(e.Stamps, id, func(s Stamp, id timed.NodeID) int { return int(s.Node) - int(id) })
	if !ok {
		return Stamp{}, false
	}
	return e.Stamps[i], true
}

// Equal reports whether two edicts are the same in every field.
func (e *Edict) Equal(o *Edict) bool {
	return e.Epoch == o.Epoch && e.Counter == o.Counter && e.Digest == o.Digest && slices.Equal(e.Stamps, o.Stamps)
}

// Clone returns a copy that shares nothing with the edict.
func (e *Edict) Clone() Edict {
	c := *e
	c.Stamps = slices.Clone(e.Stamps)
	return c
}
