package event

import (
	"fmt"
	"strings"

	"github.com/failaware/failaware/timed"
)

// Mismatch says that Peer has other settings that must be the same at every node. Its
// packets are ignored until they agree. The event comes once for each change of the peer's
// settings, and again at most once a minute while packets come.
type Mismatch struct {
	Header
	Peer        timed.NodeID `api:"peer"`
	Addr        string       `api:"address"` // where the packets come from
	Elsewhere   bool         // Peer has another address: the sender is a stranger with its id
	Differences Differences  `api:"reason"` // never empty in an event of a node
}

// Kind returns "mismatch".
func (Mismatch) Kind() string { return "mismatch" }

func (e Mismatch) String() string {
	if e.Elsewhere {
		return fmt.Sprintf("another node with the id of %s, at %s, is ignored: %v", e.node(e.Peer), e.Addr, e.Differences)
	}
	return fmt.Sprintf("%s at %s is ignored: %v", e.node(e.Peer), e.Addr, e.Differences)
}

// Differences are the settings in which a peer differs from this node.
type Differences []Difference

// Difference is a setting with its values at this node and at a peer, as text.
type Difference struct {
	Setting string // its name, as package failaware has it, or the flag of a program
	Here    string // the value at this node
	There   string // empty: only a digest of the peer's settings has come, as from earlier builds
}

func (d Difference) String() string {
	if d.There == "" {
		return fmt.Sprintf("it belongs to another group: %s differ, here %s", d.Setting, d.Here)
	}
	return fmt.Sprintf("%s is %s here and %s there", d.Setting, d.Here, d.There)
}

// Remedy says how a node that has no quorum system gets that of its group, after "; ", if that
// is what differs, and otherwise "".
func (list Differences) Remedy() string {
	for _, d := range list {
		if d.Setting == "Quorum" && (d.Here == "none" || d.There == "none") {
			return "; a new node needs JoinQuorum and a StateDir"
		}
	}
	return ""
}

func (list Differences) String() string {
	texts := make([]string, len(list))
	for i, d := range list {
		texts[i] = d.String()
	}
	return strings.Join(texts, "; ")
}
