package event

import (
	"fmt"
	"time"

	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// Ready says that the waiting time is over, and this incarnation may vote.
type Ready struct {
	Header
	Boot timed.BootID `api:"boot"`
}

// Kind returns "ready".
func (Ready) Kind() string { return "ready" }

func (e Ready) String() string {
	return fmt.Sprintf("ready: the waiting time of boot %v is over", e.Boot)
}

// Restarted says that this node gave up its incarnation, with everything that rested on its
// clock, and began a new one.
type Restarted struct {
	Header
	Reason   RestartReason `api:"reason"`
	Previous timed.BootID  `api:"previous_boot"`
	Boot     timed.BootID  `api:"boot"` // of the new incarnation
}

// Kind returns "restarted".
func (Restarted) Kind() string { return "restarted" }

func (e Restarted) String() string {
	return fmt.Sprintf("new incarnation %v: %s", e.Boot, string(e.Reason))
}

// RestartReason says why a node began a new incarnation.
type RestartReason string

// The reasons for a new incarnation.
const (
	Suspended       RestartReason = "the machine was suspended"
	PeersContradict RestartReason = "the clocks of most peers contradict this one's"
	ClockRate       RestartReason = "the kernel corrects the clock by more than the drift bound"
	ClockBackwards  RestartReason = "the hardware clock ran backwards"
	Overrun         RestartReason = "deliveries were taken too slowly for too long"
	InvariantBroken RestartReason = "the state of the node broke an invariant"
	NewEpoch        RestartReason = "other quorums order the messages from now on"
	LateState       RestartReason = "the application got its state from its disk after the node had joined a view"
)

// SlowConsumer says that the application takes its deliveries too slowly, and this node has
// stopped acknowledging messages; if that lasts for another BroadcastConfig.SlowAfter, the
// incarnation ends ([Overrun]).
type SlowConsumer struct {
	Header
	View    membership.ViewID `api:"view"`
	Backlog int64             `api:"count"` // bytes that wait for the application
}

// Kind returns "slow-consumer".
func (SlowConsumer) Kind() string { return "slow-consumer" }

func (e SlowConsumer) String() string {
	return fmt.Sprintf("deliveries of view %v are taken too slowly: %d bytes wait, and acknowledgements have stopped",
		e.View, e.Backlog)
}

// StampAhead says that a message of Peer, broadcast in another view, had a stamp that was
// far ahead of the slowest clock of View, and would have held up all others until that
// clock had caught up. It counts as stamped By earlier, which its deviation includes. The
// event comes once for each such member of a view.
type StampAhead struct {
	Header
	View membership.ViewID `api:"view"`
	Peer timed.NodeID      `api:"peer"`
	By   time.Duration     `api:"step_ns"`
}

// Kind returns "stamp-ahead".
func (StampAhead) Kind() string { return "stamp-ahead" }

func (e StampAhead) String() string {
	return fmt.Sprintf("a message of %s was stamped too far ahead of the clocks of view %v, and counts as stamped %v earlier", e.node(e.Peer), e.View, e.By)
}

// PacketUnsent says that a packet for Peer was not sent, because it cannot be encoded: it
// is larger than the node's MaxPacket, or holds a value that no packet can carry. Peers may
// not hear this node until the reason is removed. The event comes at most once a minute.
type PacketUnsent struct {
	Header
	Peer   timed.NodeID `api:"peer"`
	Reason string       `api:"reason"`
}

// Kind returns "packet-unsent".
func (PacketUnsent) Kind() string { return "packet-unsent" }

func (e PacketUnsent) String() string {
	return fmt.Sprintf("a packet for %s cannot be sent: %s", e.node(e.Peer), e.Reason)
}

// Inconsistent says that the state of this node broke an invariant. The node has a bug, its
// clock does not keep the drift bound, or a peer's machine was copied while it ran. It said
// nothing that rests on that state, and begins a new incarnation ([InvariantBroken]). If no
// machine was copied, please report the event.
type Inconsistent struct {
	Header
	Invariant string `api:"reason"` // what the node found in its state
}

// Kind returns "inconsistent".
func (Inconsistent) Kind() string { return "inconsistent" }

func (e Inconsistent) String() string {
	return "the state of this node is inconsistent: " + e.Invariant
}

// Missed says that Count events were not kept for this consumer, because it was too slow or
// came too late.
type Missed struct {
	Header        // of the last one missed; Time is now
	Count  uint64 `api:"count"`
}

// Kind returns "missed".
func (Missed) Kind() string { return "missed" }

func (e Missed) String() string { return fmt.Sprintf("%d events were missed", e.Count) }
