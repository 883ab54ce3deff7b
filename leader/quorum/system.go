package quorum

import (
	"hash/fnv"
	"strings"

	"github.com/failaware/failaware/timed"
)

// System says which sets of nodes are quorums. Any two quorums have a node in
// common, and what contains a quorum is one.
type System interface {
	// Members returns the nodes that have a say; others may vote, but do not count.
	Members() timed.Set
	// IsQuorum reports whether a set contains a quorum. It takes no memory.
	IsQuorum(timed.Set) bool
	// Digest is never 0, and that of another system is another one, but for a
	// chance of 2⁻⁶⁴.
	Digest() uint64
	// String returns the canonical text, which Parse reads.
	String() string
}

// The names with which the text of a system begins.
const (
	majorityName = "majority"
	weightedName = "weighted"
	gridName     = "grid"
	explicitName = "explicit"
)

// common is what all systems have.
type common struct {
	members timed.Set
	text    string
	digest  uint64
}

func newCommon(members timed.Set, name, list string) common {
	c := common{members: members, text: name + ":" + list}
	h := fnv.New64a()
	h.Write([]byte(c.text)) // never fails
	if c.digest = h.Sum64(); c.digest == 0 {
		c.digest = 1 // 0 means "no system"
	}
	return c
}

func (c *common) Members() timed.Set { return c.members }
func (c *common) Digest() uint64     { return c.digest }
func (c *common) String() string     { return c.text }

// writeSet writes the ids of a set in ascending order, with commas.
func writeSet(b *strings.Builder, s timed.Set) {
	for id := s.Next(0); id != 0; id = s.Next(id) {
		if id != s.Min() {
			b.WriteByte(',')
		}
		b.WriteString(id.String())
	}
}

// sets writes sets with slashes between them.
func sets(all []timed.Set) string {
	var b strings.Builder
	for i, s := range all {
		if i > 0 {
			b.WriteByte('/')
		}
		writeSet(&b, s)
	}
	return b.String()
}
