package failaware

import (
	"context"
	"fmt"
	"time"

	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/loop"
	"github.com/failaware/failaware/leader"
)

// GlobalAnswer says who leads globally, as far as this node knows.
type GlobalAnswer struct {
	// Leader is this node while it leads globally, and otherwise the node last heard to
	// do so; NoNode when there is none. Of another node it is hearsay: [Node.Verify] makes
	// sure of it.
	Leader NodeID
	// Leads says that this node leads globally: nobody else in the group does.
	Leads bool
	// ValidFor is how long that lasts from the answer on, by this node's
	// hardware clock, unless the lease is renewed; 0 unless Leads.
	ValidFor time.Duration
}

// GlobalLeader says who leads globally ([Config.Quorum]). It takes no lock and
// does not allocate; it is safe for concurrent use.
func (n *Node) GlobalLeader() GlobalAnswer { return globalFrom(n.loop.Snapshot, n.clock.Read) }

// LeadsGlobally reports whether this node leads globally now. It holds at the
// time at which the clock was read, in the call; to act as the global leader
// safely, see [Node.GlobalLeaderContext] and [Node.Timestamp]. It takes no lock and
// does not allocate; it is safe for concurrent use.
func (n *Node) LeadsGlobally() bool { return n.GlobalLeader().Leads }

func globalFrom(load func() *loop.Snapshot, read func() hwclock.Reading) GlobalAnswer {
	s, now, ok := current(load, read)
	switch {
	case ok && s.Global && now < s.GlobalUntil:
		return GlobalAnswer{Leader: s.Self.Node, Leads: true, ValidFor: left(s.GlobalUntil, now)}
	case ok && s.Globally != s.Self.Node:
		return GlobalAnswer{Leader: s.Globally}
	}
	return GlobalAnswer{}
}

// Timestamp returns a timestamp for a decision of the global leader. Everything else
// about the decision must be ready: the decision is made at the time of this call,
// which reads the clock last. Timestamps of later calls are larger, at whichever node
// they are made. [leader.Timestamp] says how they compare, and that only nodes with a
// [Config.StateDir] can always be told apart from their earlier starts.
//
// The error is [ErrNotLeader] when the node did not lead globally at that time,
// and [ErrClosed]. It is safe for concurrent use.
func (n *Node) Timestamp() (leader.Timestamp, error) {
	// Timestamps of one node are in the order of their counters because the
	// clock is read under the lock.
	n.stamping.Lock()
	defer n.stamping.Unlock()
	made := n.stamped + 1
	s, now, ok := current(n.loop.Snapshot, n.clock.Read)
	if !ok || !s.Global || now >= s.GlobalUntil || s.Stamps == nil {
		if isClosed(n.done) {
			return leader.Timestamp{}, ErrClosed
		}
		return leader.Timestamp{}, n.refuse(true)
	}
	n.stamped = made
	return leader.Timestamp{Quorum: s.Stamps, Counter: made}, nil
}

// WaitGlobalLeader waits until this node leads globally, or hears of a node that
// does, and returns the answer. The error is [ErrClosed] or the cause of ctx.
func (n *Node) WaitGlobalLeader(ctx context.Context) (GlobalAnswer, error) {
	again := time.NewTicker(n.cfg.Timing.ElectionPeriod)
	defer again.Stop()
	for {
		over := n.loop.Snapshot().GlobalPhase.Over
		if ctx.Err() != nil {
			return GlobalAnswer{}, context.Cause(ctx)
		}
		if a := n.GlobalLeader(); a.Leader != NoNode {
			return a, nil
		}
		select {
		case <-over:
		case <-again.C: // another node's lead begins no phase
		case <-n.done:
			return GlobalAnswer{}, ErrClosed
		case <-ctx.Done():
		}
	}
}

// HandOver gives up the lead as [Node.Resign] does, in favour of a peer, which leads
// next if it can be reached, regardless of its rank. The error is that of Resign,
// or [ErrSuccessor].
func (n *Node) HandOver(ctx context.Context, to NodeID) error {
	if to == n.cfg.ID || !to.Valid() {
		return fmt.Errorf("%w: node %v cannot hand over to node %v", ErrSuccessor, n.cfg.ID, to)
	}
	return n.resignTo(ctx, to)
}
