package edict

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/failaware/failaware/timed"
)

// Stamp distinguishes a vote from all others of the same voter.
type Stamp struct {
	Node timed.NodeID // the voter
	// Counter is the number of the voter's incarnation, from its state directory,
	// or 0 if it has none.
	Counter uint64
	Boot    timed.BootID // the voter's incarnation
	// At is the time of the vote on the voter's hardware clock. No two votes of an
	// incarnation have the same At.
	At timed.Instant
}

// Digest is the SHA-256 of the payload that an edict orders.
type Digest [sha256.Size]byte

// Sum returns the digest of a payload.
func Sum(payload []byte) Digest { return sha256.Sum256(payload) }

// Edict places one decision of a leader in the order of all decisions.
type Edict struct {
	// Epoch is the number of the quorum system by which the creator led.
	Epoch uint64
	// Stamps is the quorum timestamp: the votes of the round by which the creator
	// led, sorted by node. There is at least one.
	Stamps []Stamp
	// Counter numbers the edicts of one round in ascending order. Zero marks a
	// proposal of a new quorum system (package epoch).
	Counter uint64
	// Digest identifies the payload.
	Digest Digest
}

// MaxStamps is the largest number of stamps in an edict, one of each node.
const MaxStamps = timed.MaxNodes

// Validate reports whether a leader could have made the edict.
func (e *Edict) Validate() error {
	if e == nil || len(e.Stamps) == 0 {
		return errors.New("edict: no stamps")
	}
	last := timed.NoNode
	for i := range e.Stamps {
		s := &e.Stamps[i]
		switch {
		case s.Node == timed.NoNode:
			return errors.New("edict: a stamp has no node id")
		case s.Node <= last:
			return fmt.Errorf("edict: the stamp of node %v is out of order", s.Node)
		case s.Boot == 0:
			return fmt.Errorf("edict: the stamp of node %v has no boot id", s.Node)
		}
		last = s.Node
	}
	return nil
}

// Voters returns the nodes whose stamps the edict carries. A store that knows the
// quorum system of the epoch can check whether they are a quorum, and therefore
// whether the creator led globally.
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

// Clone returns a deep copy.
func (e *Edict) Clone() Edict {
	c := *e
	c.Stamps = slices.Clone(e.Stamps)
	return c
}
