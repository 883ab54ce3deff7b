package failaware

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/go-hclog"

	"github.com/failaware/failaware/clocksync/reference"
	"github.com/failaware/failaware/internal/awake"
	"github.com/failaware/failaware/internal/eventring"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/loop"
	"github.com/failaware/failaware/internal/loop/statedir"
	"github.com/failaware/failaware/internal/outputs"
	"github.com/failaware/failaware/internal/peers"
	"github.com/failaware/failaware/internal/transport"
)

// Node is a running member of a group. All methods are safe for concurrent use.
type Node struct {
	cfg     Config
	bounds  Bounds
	log     hclog.Logger
	loop    *loop.Loop
	clock   *hwclock.Clock
	conn    transport.Conn
	state   *statedir.Dir  // nil without a state directory
	awake   *awake.Request // nil unless processors are kept from sleeping
	peers   *peers.Resolver
	pollers []*reference.Poller // of the references, in the order of the configuration
	outputs outputs.Outputs     // of time, to other programs
	events  *eventring.Ring[Event]

	stamping sync.Mutex
	stamped  uint64 // timestamps made; guarded by stamping

	stop    sync.Once
	closing atomic.Bool
	done    chan struct{} // closed when the node has stopped
	err     error         // why it stopped by itself; written before done is closed
}

// Close stops the node at once, as a crash would: the peers find out by its
// silence, within [Bounds.Elect] and [Bounds.View]. When Close returns, no answer
// says that the node leads, the address and the state directory are free, and
// processors may sleep. Closing a stopped node does nothing. The error is always nil.
func (n *Node) Close() error {
	n.stop.Do(n.loop.Close)
	<-n.done
	return nil
}

// Leave stops the node gracefully: it gives up the lead if it has it, says that it
// leaves, waits until nothing binds the others to it, and stops. If ctx is done
// first, the node stops at once and Leave returns the cause. After Leave the node is
// stopped in any case.
func (n *Node) Leave(ctx context.Context) error {
	n.loop.Leave()
	select {
	case <-n.done:
		return n.err
	case <-ctx.Done():
		_ = n.Close()
		return context.Cause(ctx)
	}
}

// Resign gives up the lead in favour of the next candidate; the node stays in the
// group and may be elected again. It returns when the lead is given up, or with an
// error: [ErrNotLeader], [ErrClosed], or the cause of ctx.
func (n *Node) Resign(ctx context.Context) error { return n.resignTo(ctx, NoNode) }

func (n *Node) resignTo(ctx context.Context, to NodeID) error {
	err := n.loop.Resign(ctx, to)
	if errors.Is(err, loop.ErrUnknownPeer) {
		return fmt.Errorf("%w: node %v is not known here", ErrSuccessor, to)
	}
	return n.refusal(err, false)
}

// SetPeers replaces the list of peers, as given in [Config.Peers]. Peers that are
// not listed any more are forgotten, but may be learnt again if they send packets.
// The error says which peer is wrong; then nothing changes.
func (n *Node) SetPeers(list []Peer) error {
	list = n.cfg.withPeerAddrs(list)
	if err := errors.Join(n.cfg.checkPeers(list)...); err != nil {
		return fmt.Errorf("failaware: invalid peers: %w", err)
	}
	n.peers.Set(toResolve(list))
	return nil
}

func toResolve(list []Peer) (out []peers.Peer) {
	for _, p := range list {
		out = append(out, peers.Peer(p))
	}
	return out
}

// Done is closed when the node has stopped, for any reason.
func (n *Node) Done() <-chan struct{} { return n.done }

// Err returns nil while the node runs and after Close or Leave. Otherwise it returns
// why the node stopped by itself: a [*DuplicateIDError], a [*MismatchError], or an
// error of the socket.
func (n *Node) Err() error {
	select {
	case <-n.done:
		return n.err
	default:
		return nil
	}
}

// ID returns the node's id.
func (n *Node) ID() NodeID { return n.cfg.ID }

// Name returns the node's name.
func (n *Node) Name() string { return n.cfg.Name }

// Addr returns the address that the node listens at: of UDP, or of its transport.
func (n *Node) Addr() netip.AddrPort { return n.conn.LocalAddr() }

// Bounds returns the times that the node's timing guarantees.
func (n *Node) Bounds() Bounds { return n.bounds }

// Config returns the node's configuration, with defaults filled in. The list of
// peers is the one that the node started with.
func (n *Node) Config() Config { return n.cfg }
