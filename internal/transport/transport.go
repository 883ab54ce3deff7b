// Package transport is the seam between a node and the network: the interfaces that
// both a UDP socket and a network in memory have. It is internal because the promises
// of a node rest on the times that its transport reports, and only the types of this
// module are tested for them.
package transport

import (
	"net/netip"

	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/timed"
)

// Conn is a node's end of the network. Its methods promise the same as those of
// [udp.Conn].
type Conn interface {
	ReadBatch(pkts []udp.Packet, deadline timed.Instant) (n int, err error)
	WriteBatch(pkts []udp.Packet) (sent int, err error)
	Wake()
	LocalAddr() netip.AddrPort
	Stats() udp.Stats
	Close() error
}

// Transport carries the packets of nodes in place of UDP sockets.
type Transport interface {
	// Open connects a node. The error matches [syscall.EADDRINUSE] if another node
	// has the address.
	Open(Request) (Endpoint, error)
	// Address returns the default address of a node.
	Address(timed.NodeID) netip.AddrPort
	// Nodes returns the ids of the nodes that have been connected.
	Nodes() timed.Set
}

// Request describes a node to its transport.
type Request struct {
	ID timed.NodeID
	// Listen is the address of the node. If it is invalid, the transport chooses
	// one.
	Listen netip.AddrPort
	Timing timed.Timing
	// MaxPacket is the length of the longest packet that the node reads, in bytes.
	// Longer ones are dropped and counted. Zero means no limit.
	MaxPacket int
	// Ending reports whether the node must end without another turn. The transport
	// asks when it is woken while it delays the node.
	Ending func() bool
}

// Endpoint is the result of opening a transport.
type Endpoint struct {
	Conn  Conn
	Clock *hwclock.Clock
	// Random returns 64 random bits. Only the node's loop calls it.
	Random func() uint64
	// Test says that the endpoint is for tests, in which a check is worth its price.
	Test bool
}
