package broadcast

import (
	"time"

	"github.com/failaware/failaware/internal/enum"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// Kind tells effects apart.
type Kind uint8

const (
	// Send: send Packet to the member Peer, or to all other members if Peer is
	// NoNode. The packet is valid until Reclaim.
	Send Kind = iota + 1
	// Deliver: hand Deliveries, which are of View, to the application. They are
	// valid until Reclaim. A delivery whose sender is this incarnation is also the
	// outcome of the broadcast.
	Deliver
	// Transition: the following deliveries in View are transitional. The members
	// Along move together to Next and all deliver them; other members might not.
	Transition
	// Installed: View is the view from now on. Base is how far the ordered messages of
	// each node had been ordered before, in the branches that meet in it.
	Installed
	// Elsewhere: own messages of Class, From through Through, were ordered in
	// another branch of the group, whose deliveries this node cannot know. Their
	// outcome is unknown, and they will not be sent again.
	Elsewhere
	// Slow: the application takes deliveries too slowly, and acknowledgements have
	// stopped.
	Slow
	// Overrun: the application was slow for too long. This incarnation must leave,
	// so that the others need not wait for it.
	Overrun
	// Ahead: an ordered message of the member Peer had a stamp that was ahead of the
	// slowest clock of View, and would have held up all messages. It counts as stamped
	// By earlier. At most one such effect comes for each member of a view.
	Ahead
	// Remains: the incarnation ends, and has acknowledged Deliveries in View that it has
	// not delivered. They are ordered, and valid until Reclaim.
	Remains
)

func (k Kind) String() string {
	return enum.Name(k, []string{Send: "send", Deliver: "deliver", Transition: "transition", Installed: "installed",
		Elsewhere: "elsewhere", Slow: "slow", Overrun: "overrun", Ahead: "ahead", Remains: "remains"}...)
}

// Effect is something for the caller to do, in order. The kind says which fields
// count.
type Effect struct {
	Kind       Kind
	Peer       timed.NodeID
	Packet     *Packet
	View       *membership.View
	Next       *membership.View
	Along      timed.Set
	Deliveries []Delivery
	Base       []Mark
	Class      Class
	From       uint64
	Through    uint64
	By         time.Duration
}
