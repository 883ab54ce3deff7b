package stack

import (
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/enum"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/timed"
)

// EffectKind tells effects apart.
type EffectKind uint8

const (
	// Send: send Packet to the node Peer. The packet is valid until the next call.
	// The caller sets Stamp and Counter when the packet leaves.
	Send EffectKind = iota + 1
	// SendBack: send Packet to the address from which the packet being handled came.
	SendBack
	// Notify: Event has happened. It is valid until the next call.
	Notify
	// Deliver: hand Broadcast, a delivery or an outcome of the broadcast, to the
	// application. It is valid until the next call.
	Deliver
	// Persist: write Epoch down, durably, before the next effect is performed. If
	// that fails, the node must stop and perform no further effect. Epoch is
	// immutable and may be kept.
	Persist
)

func (k EffectKind) String() string {
	return enum.Name(k, []string{Send: "send", SendBack: "send back", Notify: "notify", Deliver: "deliver", Persist: "persist"}...)
}

// Effect is something for the driver to do, in order. The kind says which fields
// count.
type Effect struct {
	Kind      EffectKind
	Peer      timed.NodeID
	Packet    *wire.Packet
	Event     *Event
	Broadcast *broadcast.Effect
	Epoch     *epoch.State
}
