package replica

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/membership"
)

// Label names the state of a branch at the beginning of a view. Equal labels mean equal
// states. A label is derived from the branch's history: the positions through which the
// operations of views were applied, and the merges. The zero label names the initial state
// of every application.
type Label [16]byte

func (l Label) String() string {
	if l == (Label{}) {
		return "initial"
	}
	return fmt.Sprintf("%x", l[:4])
}

// Digest names the bytes of a snapshot.
type Digest [16]byte

// digestOf returns the digest of a snapshot. It reads all of it, so callers compute it
// where they made the snapshot, outside of any protocol loop.
func digestOf(b []byte) (d Digest) {
	sum := sha256.Sum256(b)
	copy(d[:], sum[:])
	return d
}

// Name names a state at an exact position: that of a branch at the beginning of a
// view, or, with View and Position, after the message at that position of the
// view.
type Name struct {
	Label    Label
	View     membership.ViewID
	Position uint64
}

func (n Name) String() string {
	if n.View.None() {
		return n.Label.String()
	}
	return fmt.Sprintf("%v in %v at %d", n.Label, n.View, n.Position)
}

// The inputs from which labels are derived begin with one of these bytes, so that inputs of
// different kinds differ.
const (
	bySuccession = iota + 1
	byMerge
	byEnd
	byFlush
)

func appendView(b []byte, v membership.ViewID) []byte {
	b = binary.BigEndian.AppendUint64(b, v.Sequence)
	b = append(b, byte(v.Leader))
	return binary.BigEndian.AppendUint64(b, uint64(v.Boot))
}

func labelOf(b []byte) (l Label) {
	sum := sha256.Sum256(b)
	copy(l[:], sum[:])
	return l
}

// successor returns the label of the state of a holder that has delivered Flushed
// operations in a view and moves on to the next. Members that move together have delivered
// the same messages.
func (l Label) successor(view, next membership.ViewID) Label {
	b := append([]byte{bySuccession}, l[:]...)
	return labelOf(appendView(appendView(b, view), next))
}

// label returns the label of the state that a name with a position names.
func (n Name) label() Label {
	b := append([]byte{byEnd}, n.Label[:]...)
	return labelOf(binary.BigEndian.AppendUint64(appendView(b, n.View), n.Position))
}

// flushed returns the label of the state that a name names, with one more operation.
func (n Name) flushed(id broadcast.ID) Label {
	end := n.label()
	b := appendView(append([]byte{byFlush}, end[:]...), membership.ViewID{Sequence: id.Sequence, Leader: id.Sender, Boot: id.Boot})
	return labelOf(b)
}

// mergedLabel returns the label of the merged state of a view.
func mergedLabel(view membership.ViewID, branches []branch) Label {
	b := appendView([]byte{byMerge}, view)
	for i := range branches {
		b = append(b, branches[i].label[:]...)
	}
	return labelOf(b)
}
