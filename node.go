package failaware

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/go-hclog"

	"github.com/failaware/failaware/clocksync/reference"
	"github.com/failaware/failaware/internal/awake"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/pause"
	"github.com/failaware/failaware/internal/peers"
	"github.com/failaware/failaware/internal/transport"
)

// Node is a running member of a group. All methods are safe for concurrent use.
type Node struct {
	cfg    Config
	bounds Bounds
	log    hclog.Logger
	clock  *hwclock.Clock
	conn   transport.Conn
	random func() uint64  // of boot ids
	files  *stateFiles    // nil without a state directory
	awake  *awake.Request // nil unless processors are kept from sleeping
	gate   *pause.Gate    // nil but for tests and the demonstration

	state  atomic.Pointer[state] // what readers answer from
	hub    *hub
	desk   desk // commands for the loop
	loop   *driver
	outlet *outlet // nil without broadcast
	inbox  *inbox  // nil without broadcast, and where deliveries are not wanted
	peers  *peers.Resolver
	asked  []*reference.Poller // the references, in the order of the configuration

	outputs outputs // to other programs

	stamping sync.Mutex
	stamped  uint64 // timestamps made; under stamping

	stop    sync.Once
	closing atomic.Bool
	done    chan struct{} // the loop has ended
	err     error         // why, if by itself; written before done is closed
	last    Status        // written before done is closed
}

// machineClock is the hardware clock that all nodes of the process share which
// have no transport of their own.
var machineClock = sync.OnceValues(hwclock.New)

// holdAwake is for tests to replace: not every machine has the device.
var holdAwake = awake.Hold

// Start starts a node. It returns at once; the node takes part as soon as its
// waiting time is over ([Bounds.Ready], and see [Ready]). The node runs until
// [Node.Close], until [Node.Leave], until ctx is done (as with Close), or until
// it stops by itself ([Node.Err]).
//
// With [Config.ClockBound] it may watch for two seconds whether another writer
// keeps the segment up to date.
//
// The error says which field of cfg is wrong, that the address is taken
// ([syscall.EADDRINUSE]), that another process runs a node of this id
// ([ErrInUse]), that the state directory cannot be used ([ErrDamaged], or the
// system's error), or that processors cannot be kept from sleeping ([ErrAwake]).
func Start(ctx context.Context, cfg Config) (*Node, error) {
	bounds, err := cfg.Validate()
	if err != nil {
		return nil, fmt.Errorf("failaware: invalid configuration: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	cfg = cfg.WithDefaults()
	if cfg.Transport != nil && cfg.Peers == nil {
		cfg.Peers = cfg.earlierNodes()
	}
	if cfg.RaiseProcs {
		raiseProcs()
	}
	n := &Node{cfg: cfg, bounds: bounds, log: cfg.Logger.Named(cfg.Name), done: make(chan struct{}),
		hub: newHub(cfg.EventBuffer), gate: pause.From(ctx)}
	if b := cfg.Broadcast; b != nil {
		n.outlet = newOutlet(cfg.ID, b)
		if !b.SendOnly {
			n.inbox = newInbox(b.Backlog)
		}
	}
	if cfg.Awake {
		if n.awake, err = holdAwake(); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrAwake, err)
		}
		if doubt := awake.Doubt(); doubt != "" {
			n.log.Warn("Awake may have no effect", "because", doubt)
		}
	}
	if cfg.StateDir != "" {
		if n.files, err = openState(cfg.StateDir, cfg.ID, cfg.Timing.MaxLockTime); err != nil {
			return nil, errors.Join(err, n.release())
		}
	}
	epochs, err := n.files.readEpoch(&cfg)
	if err != nil {
		return nil, errors.Join(err, n.release())
	}
	n.warnQuorum(epochs)
	if err = n.open(); err != nil {
		return nil, errors.Join(err, n.release())
	}
	n.peers = n.newResolver()
	for _, r := range cfg.References {
		n.asked = append(n.asked, reference.New(r, n.clock, cfg.Timing.MaxDrift))
	}
	d := newDriver(n, epochs)
	if n.outputs, err = cfg.startOutputs(ctx, n.utc); err != nil {
		return nil, errors.Join(err, n.conn.Close(), n.release())
	}
	n.loop = d
	go d.run()
	go n.watchOutputs()
	n.askReferences()
	if cfg.Transport == nil { // or else there are no names, and the kernel's clock means nothing
		go n.peers.Run(n.done)
		go n.watchRate()
	}
	go n.logEvents()
	stop := context.AfterFunc(ctx, func() { _ = n.Close() })
	go func() {
		<-n.done
		stop() // or else ctx would keep the node in memory
	}()
	return n, nil
}

// release gives back what the node holds of its machine besides its sockets.
func (n *Node) release() error { return errors.Join(n.files.close(), n.awake.Close()) }

// raiseProcs makes room for the loops beside goroutines that compute all the
// time.
func raiseProcs() {
	if want := 2 * runtime.NumCPU(); runtime.GOMAXPROCS(0) < want {
		runtime.GOMAXPROCS(want)
	}
}

// Close stops the node at once, as a crash would: the peers find out by its
// silence, within [Bounds.Elect] and [Bounds.View]. When Close returns, no answer
// says that the node leads, the address and the state directory are free, and
// processors may sleep.
// Closing a stopped node does nothing. The error is always nil.
func (n *Node) Close() error {
	n.stop.Do(func() {
		n.closing.Store(true)
		n.conn.Wake()
	})
	<-n.done
	return nil
}

// Leave stops the node gracefully: it gives up the lead if it has it, says that
// it leaves, waits until nothing binds the others to it, and stops. If ctx is
// done first, the node stops at once and Leave returns the cause. After Leave
// the node is stopped in any case.
func (n *Node) Leave(ctx context.Context) error {
	n.do(func(d *driver) { d.leave() })
	select {
	case <-n.done:
		return n.err
	case <-ctx.Done():
		_ = n.Close()
		return context.Cause(ctx)
	}
}

// Resign gives up the lead in favour of the next candidate; the node stays in
// the group and may be elected again. It returns when the lead is given up, or
// with an error: [ErrNotLeader], [ErrClosed], or the cause of ctx.
func (n *Node) Resign(ctx context.Context) error { return n.resignTo(ctx, NoNode) }

func (n *Node) resignTo(ctx context.Context, to NodeID) error {
	result := make(chan error, 1)
	if !n.do(func(d *driver) { d.resign(to, func(err error) { result <- err }) }) {
		return ErrClosed
	}
	select {
	case err := <-result:
		return err
	case <-n.done:
		return ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// SetPeers replaces the list of peers, as given in [Config.Peers]. Peers that
// are not listed any more are forgotten, but may be learnt again if they send
// packets. The error says which peer is wrong; then nothing changes.
func (n *Node) SetPeers(list []Peer) error {
	list = n.cfg.withPeerAddrs(list)
	if err := errors.Join(n.cfg.checkPeers(list)...); err != nil {
		return fmt.Errorf("failaware: invalid peers: %w", err)
	}
	n.peers.Set(resolvable(list))
	return nil
}

// Done is closed when the node has stopped, for whatever reason.
func (n *Node) Done() <-chan struct{} { return n.done }

// Err returns nil while the node runs and after Close or Leave, and else why it
// stopped by itself: a [*DuplicateIDError], a [*MismatchError], or an error of
// the socket.
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

func (n *Node) newResolver() *peers.Resolver {
	return peers.NewResolver(peers.Options{Self: n.cfg.ID, Local: n.conn.LocalAddr(), Insecure: n.cfg.Insecure,
		Alive: func() Set { return n.state.Load().Alive }, Changed: n.conn.Wake, Log: n.log}, resolvable(n.cfg.Peers))
}

func resolvable(list []Peer) (out []peers.Peer) {
	for _, p := range list {
		out = append(out, peers.Peer(p))
	}
	return out
}
