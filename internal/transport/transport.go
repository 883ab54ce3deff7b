// Package transport is the seam between a node and what carries its packets:
// the interfaces that both a UDP socket and a network in memory have. It is
// internal because the promises of a node rest on what its transport says of
// time, and only the types of this module are held to that.
package transport

import (
	"net/netip"

	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/timed"
)

// Conn is the end of a node. Its methods promise what those of [udp.Conn] do.
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
	// Open lets a node take part. The error matches [syscall.EADDRINUSE] if
	// another node has the address.
	Open(Request) (Endpoint, error)
	// Address returns the address that a node of this id listens at unless it
	// is told otherwise.
	Address(timed.NodeID) netip.AddrPort
	// Nodes returns the ids of the nodes that have taken part.
	Nodes() timed.Set
}

// Request is what a transport must know of a node.
type Request struct {
	ID timed.NodeID
	// Listen is the address of the node; if it is not valid, the transport
	// chooses.
	Listen netip.AddrPort
	Timing timed.Timing
	// MaxPacket is the length of the longest packet that the node reads, in
	// bytes; longer ones are dropped and counted. Zero: no limit.
	MaxPacket int
	// Ending reports whether the node is to end without another turn. The
	// transport asks when it is woken while it holds the node up.
	Ending func() bool
}

// Endpoint is what a node gets.
type Endpoint struct {
	Conn  Conn
	Clock *hwclock.Clock
	// Random returns 64 random bits. Only the node's loop calls it.
	Random func() uint64
}
