package failaware

import (
	"errors"
	"strings"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/timed"
)

// BroadcastConfig configures the atomic broadcast. Zero values stand for the
// defaults. All nodes of a group must have it, with the same values except for
// Backlog, SlowAfter and SendOnly, or none: a node without it keeps the others from
// agreeing on views.
type BroadcastConfig struct {
	// Window is how many bytes of messages a view holds at most that are not known to be
	// at all members, 64 for each message included: 4 KiB to 1 GiB. The members share it
	// equally. Zero means 4 MiB.
	Window int
	// MaxMessages is how many such messages, or fragments of larger ones, a sender has
	// at most among those without an order, and among the others: up to 1,048,576. Zero
	// means 16,384.
	MaxMessages int
	// MaxPayload is the largest payload in bytes, up to 64 MiB. Zero means 1 MiB.
	MaxPayload int
	// PacketBytes is how many bytes of messages a packet carries at most, 256 to
	// 60,000: larger payloads travel in fragments. Zero means as many as fit into packets
	// of [Config.MaxPacket] bytes. More is faster if the network takes such packets, as
	// loopback does.
	PacketBytes int
	// Backlog is how many bytes of deliveries may wait for [Node.Receive], 64 for each
	// included, before this node stops its acknowledgements: up to 1 GiB. At most the
	// Backlog and a window wait. Zero means 16 MiB.
	Backlog int
	// SlowAfter is for how long deliveries may exceed the Backlog before a
	// [SlowConsumer] event says so. After twice as long the incarnation ends
	// ([Overrun]), so that the group goes on without it, and the next one begins when
	// half of the Backlog has been taken. Zero means 1 s.
	SlowAfter time.Duration
	// RequireQuorum, if not empty, is the configured group: Total and Timed messages
	// are ordered only in views with more than half of it.
	RequireQuorum []NodeID
	// SendOnly says that this node's application does not want the deliveries. They are
	// dropped, and [Node.Receive] fails; outcomes are known all the same.
	SendOnly bool
}

// packetOverhead is the room that a packet needs besides the messages in it: for
// headers, the sender's state, a decision. It errs on the large side.
const packetOverhead = 250

// packetBytes returns how many bytes of messages fit into packets of a size.
func packetBytes(maxPacket int) int { return min(maxPacket-packetOverhead, broadcast.MaxPacketBytes) }

// withDefaults returns a copy with zero values replaced by the defaults.
func (b *BroadcastConfig) withDefaults(maxPacket int) *BroadcastConfig {
	c := *b
	orDefault(&c.PacketBytes, packetBytes(maxPacket))
	m := c.machine().WithDefaults()
	c.Window, c.MaxMessages, c.MaxPayload, c.Backlog, c.SlowAfter = m.Window, m.MaxMessages, m.MaxPayload, m.Backlog, m.SlowAfter
	return &c
}

// machine returns the configuration of the machine, without ids that check refuses.
func (b *BroadcastConfig) machine() broadcast.Config {
	return broadcast.Config{Window: b.Window, MaxMessages: b.MaxMessages, MaxPayload: b.MaxPayload,
		PacketBytes: b.PacketBytes, Backlog: b.Backlog, SlowAfter: b.SlowAfter, RequireQuorum: b.quorum()}
}

// quorum returns RequireQuorum as a set.
func (b *BroadcastConfig) quorum() (group Set) {
	for _, id := range b.RequireQuorum {
		if id.Valid() {
			group.Add(id)
		}
	}
	return group
}

// check names each error by its field.
func (b *BroadcastConfig) check() (errs faults) {
	if joined, ok := b.machine().Validate().(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			errs = append(errs, errors.New("Broadcast."+strings.TrimPrefix(err.Error(), "broadcast: ")))
		}
	}
	var seen Set
	for i, id := range b.RequireQuorum {
		switch {
		case !id.Valid():
			errs.add("Broadcast.RequireQuorum[%d]: %d is no node id from 1 to %d", i, id, timed.MaxNodes)
		case seen.Has(id):
			errs.add("Broadcast.RequireQuorum[%d]: node %v is there twice", i, id)
		default:
			seen.Add(id)
		}
	}
	return errs
}
