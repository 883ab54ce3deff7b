// Package peers keeps the list of a node's peers, and looks their names up.
package peers

import (
	"net/netip"
	"sync/atomic"

	"github.com/failaware/failaware/timed"
)

// Peer is another node of the group, as an administrator names it.
type Peer struct {
	// ID is the node's id, or NoNode if the node is to say it.
	ID timed.NodeID
	// Addr is "host:port".
	Addr string
}

// List is the list of peers with their addresses. It is immutable, so the loop
// reads it without a lock.
type List []*Entry

// Entry is one line of a list. Its exported fields are immutable.
type Entry struct {
	ID      timed.NodeID   // NoNode: the node is to say it
	Name    string         // the address as configured
	Addr    netip.AddrPort // not valid while unresolved
	Problem string         // why it is unresolved

	// learnt is the id that the node at this address has said. All versions of the
	// entry share it.
	learnt *atomic.Uint32
}

// Node returns the id of the entry, configured or learnt, or NoNode.
func (e *Entry) Node() timed.NodeID {
	if e.ID != timed.NoNode {
		return e.ID
	}
	return timed.NodeID(e.learnt.Load())
}

// Learn notes which node answers at the address of the entry. Only the loop
// calls it.
func (e *Entry) Learn(id timed.NodeID) { e.learnt.Store(uint32(id)) }
