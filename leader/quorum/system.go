package quorum

import (
	"hash/fnv"
	"strings"

	"github.com/failaware/failaware/timed"
)

// System is a quorum system. Any two quorums have a node in common, and every
// superset of a quorum is a quorum.
type System interface {
	// Members returns the nodes whose votes count.
	Members() timed.Set
	// IsQuorum reports whether a set contains a quorum. It does not allocate.
	IsQuorum(timed.Set) bool
	// Digest returns a hash of the text, never 0. Digests of different systems
	// collide with probability 2⁻⁶⁴.
	Digest() uint64
	// String returns the canonical text, which Parse reads.
	String() string
}

// Prefixes of the text form.
const (
	majorityName = "majority"
	weightedName = "weighted"
	gridName     = "grid"
	explicitName = "explicit"
)

// common implements the methods that do not depend on the kind of system.
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

// MarshalText returns the text, for JSON. A System is read by Parse.
func (c *common) MarshalText() ([]byte, error) { return []byte(c.text), nil }

// formatSets returns the sets separated by slashes, each as ascending ids
// separated by commas.
func formatSets(all ...timed.Set) string {
	var lists []string
	for _, s := range all {
		var ids []string
		for id := range s.All() {
			ids = append(ids, id.String())
		}
		lists = append(lists, strings.Join(ids, ","))
	}
	return strings.Join(lists, "/")
}
