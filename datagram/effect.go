package datagram

import (
	"github.com/failaware/failaware/internal/enum"
	"github.com/failaware/failaware/timed"
)

// Kind tells effects apart.
type Kind uint8

// The effects of the service. [Service.HandlePacket] returns exactly one of those up to
// Twin, the verdict on the packet.
const (
	// Dropped: the packet says nothing; ignore it.
	Dropped Kind = iota + 1
	// Challenged: the packet's incarnation is not accepted, or not yet. Echo the
	// packet, but ignore its content.
	Challenged
	// Delivered: the packet is of the accepted incarnation.
	Delivered
	// Accepted: as Delivered, and the incarnation has just been accepted. Forget
	// everything about an earlier one.
	Accepted
	// Faulty: the packet proves that one of the two clocks broke ρ. Ignore its
	// content.
	Faulty
	// Twin: the packet contradicts another one in a way that two processes with one
	// incarnation do. Ignore its content.
	Twin
	// Rival: the incarnation From, which is not accepted, is another process than the
	// accepted one, and both are alive.
	Rival
	// Duplicate: another process uses this node's id, as the incarnation From.
	// This node must stop.
	Duplicate
)

func (k Kind) String() string {
	return enum.Name(k, []string{Dropped: "dropped", Challenged: "challenged", Delivered: "delivered", Accepted: "accepted",
		Faulty: "faulty", Twin: "twin", Rival: "rival", Duplicate: "duplicate"}...)
}

// Effect is a consequence of a packet or of time.
type Effect struct {
	Kind  Kind
	From  timed.Incarnation // of the packet; of Duplicate: the rival
	Delay Delay             // of the packet
}
