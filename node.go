package failaware

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/failaware/failaware/clocksync/reference"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/awake"
	"github.com/failaware/failaware/internal/durable"
	"github.com/failaware/failaware/internal/eventring"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/join"
	"github.com/failaware/failaware/internal/loop"
	"github.com/failaware/failaware/internal/loop/statedir"
	"github.com/failaware/failaware/internal/outputs"
	"github.com/failaware/failaware/internal/pause"
	"github.com/failaware/failaware/internal/peers"
	"github.com/failaware/failaware/internal/seal"
	"github.com/failaware/failaware/internal/transport"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/leader/epoch"
)

// Node is a running member of a group. All methods are safe for concurrent use.
type Node struct {
	cfg      Config
	bounds   Bounds
	log      hclog.Logger
	loop     *loop.Loop
	clock    *hwclock.Clock
	conn     transport.Conn
	test     bool          // the transport is for tests
	ring     *seal.Ring    // that the node starts with; nil without a key file
	state    *statedir.Dir // nil without a state directory
	claim    *loop.Claim   // nil unless the node chooses its id by itself; so is assigned
	assigned *statedir.Assigned
	awake    *awake.Request // nil unless processors are kept from sleeping
	peers    *peers.Resolver
	finder   *join.Finder        // nil without Config.Join, and without members that were kept
	heard    keptMembers         // in the state directory; owned by keepMembers
	pollers  []*reference.Poller // of the references, in the order of the configuration
	outputs  outputs.Outputs     // of time, to other programs
	events   *eventring.Ring[event.Event]
	messages chan func()   // for the log
	lost     atomic.Uint64 // messages, since the last one

	timeline TimelineID // that the clock follows; owned by the loop, for its events

	guard atomic.Pointer[guard] // of the quorum system that orders messages

	rereading chan struct{} // of capacity 1: full from the reading of the key file until its keys count

	stamping sync.Mutex
	stamped  uint64 // timestamps made; guarded by stamping

	stop    sync.Once
	closing atomic.Bool
	leaving atomic.Uint32 // how the node leaves
	done    chan struct{} // closed when the node has stopped
	err     error         // why it stopped by itself; written before done is closed
}

// Close stops the node at once, as a crash would: the peers find out by its
// silence, within Bounds.Elect and Bounds.View. When Close returns, no answer
// says that the node leads, the address and the state directory are free, and
// processors may sleep. Closing a stopped node does nothing. The error is always nil.
func (n *Node) Close() error {
	n.stop.Do(n.loop.Close)
	<-n.done
	return nil
}

// Leave stops the node gracefully: it gives up the lead if it has it, says that it leaves,
// waits until nothing binds the others to it, and stops. If ctx is done first, Leave returns the
// cause, and the node has stopped at once, as by [Node.Close]. Only if it cannot within a second,
// as when it waits for a disk, Leave returns before: the node stops as soon as it can then, which
// [Node.Done] tells. The error is also, or otherwise, that of [Node.Err].
func (n *Node) Leave(ctx context.Context) error { return n.depart(ctx, false) }

// LeaveForGood is [Node.Leave] for a node that will not come back: the peers that hear of
// it do not look for it any more and do not list it, until another process with its id
// sends them something. A node that has chosen its id by itself gives it up. The first call of
// the two counts, since peers may have been told: after Leave the node leaves not for good, which
// is the error then.
func (n *Node) LeaveForGood(ctx context.Context) error { return n.depart(ctx, true) }

// Ways to leave. The zero value: the node stays.
const (
	leaves = 1 + iota
	leavesForGood
)

// errComesBack is why a node does not leave for good.
var errComesBack = errors.New("failaware: the node left already, and not for good")

// stopPatience is how long a node may take to stop before who waits for it goes on.
const stopPatience = time.Second

func (n *Node) depart(ctx context.Context, forGood bool) error {
	way := uint32(leaves)
	if forGood {
		way = leavesForGood
	}
	n.leaving.CompareAndSwap(0, way)
	n.loop.Leave(n.leaving.Load() == leavesForGood)
	select {
	case <-n.done:
		if forGood && n.leaving.Load() != leavesForGood {
			return errors.Join(n.err, errComesBack)
		}
		return n.err
	case <-ctx.Done():
	}
	n.stop.Do(n.loop.Close)
	patience := time.NewTimer(stopPatience)
	defer patience.Stop()
	select {
	case <-n.done:
		if n.err != nil {
			return errors.Join(context.Cause(ctx), n.err)
		}
	case <-patience.C:
	}
	return context.Cause(ctx)
}

// SetPeers replaces the list of peers, as given in [Config.Peers]. Peers that are
// not listed any more are forgotten, but may be learnt again if they send packets.
// The error says which peer is wrong, or is [ErrClosed]; then nothing changes.
func (n *Node) SetPeers(list []Peer) error {
	list = n.cfg.withPeerAddrs(list)
	if err := errors.Join(n.cfg.checkPeers(list)...); err != nil {
		return fmt.Errorf("failaware: invalid peers: %w", err)
	}
	select {
	case <-n.done:
		return ErrClosed
	default:
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

// Err returns why the node stopped by itself, a [*DuplicateIDError] or an error of the
// socket or the disk, or else why it could not release its state directory. It returns nil
// while the node runs, and usually after Close or Leave.
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
// peers is the one that the node started with. The caller may change the result.
func (n *Node) Config() Config { return n.cfg.clone() }

// machineClock is the hardware clock of all nodes of the process that have no
// transport of their own.
var machineClock = sync.OnceValues(hwclock.New)

// holdAwake is for tests to replace: not every machine has the device.
var holdAwake = awake.Hold

// Start starts a node. It returns at once, unless the node has to choose its id
// ([Config.ID]). The node takes part as soon as its waiting time is over (Bounds.Ready,
// [event.Ready]). The node runs until [Node.Close], until [Node.Leave], until ctx is done
// (as with Close), or until it stops by itself ([Node.Err]).
//
// With [Config.ClockBound], Start may watch for two seconds whether another writer
// keeps the segment up to date.
//
// The error says which field of cfg is wrong, that the address is taken
// ([syscall.EADDRINUSE]), that another process runs a node of this id ([ErrInUse]), that no
// id is free ([ErrNoID]), that the state directory ([ErrDamaged], [ErrGroup], or the system's
// error) or the key file cannot be used, that a multicast group of [Config.Join] cannot be used, that
// time cannot be served ([ErrServeTime]), or that processors cannot be kept from sleeping
// ([ErrAwake]). If ctx is done before Start returns, it is the cause of ctx.
func Start(ctx context.Context, cfg Config) (*Node, error) {
	if ctx == nil {
		panic("failaware: Start with a nil context")
	}
	// The process may change its working directory while the node runs.
	cfg.StateDir, cfg.KeyFile = durable.Abs(cfg.StateDir), durable.Abs(cfg.KeyFile)
	if cfg.ID != NoNode {
		return start(ctx, cfg, nil, nil)
	}
	if _, err := cfg.check(ctx); err != nil {
		return nil, err
	}
	return startAssigned(ctx, cfg)
}

// check validates the settings of a node that starts, unless ctx is done.
func (c Config) check(ctx context.Context) (Bounds, error) {
	bounds, err := c.Validate()
	if err != nil {
		return Bounds{}, fmt.Errorf("failaware: invalid configuration: %w", err)
	}
	return bounds, context.Cause(ctx)
}

// start starts a node whose id is kept in a, claimed, or configured.
func start(ctx context.Context, cfg Config, a *statedir.Assigned, claims *loop.Claim) (*Node, error) {
	bounds, err := cfg.check(ctx)
	if err != nil {
		return nil, err
	}
	cfg = cfg.WithDefaults().clone()
	if cfg.Transport != nil && cfg.Peers == nil && len(cfg.Join) == 0 {
		cfg.Peers = cfg.earlierNodes()
	}
	if cfg.RaiseProcs {
		raiseProcs()
	}
	n := &Node{cfg: cfg, bounds: bounds, log: cfg.logger().Named(cfg.Name), done: make(chan struct{}), rereading: make(chan struct{}, 1), messages: make(chan func(), maxMessages), claim: claims,
		events: eventring.New[event.Event](cfg.EventBuffer)}
	if err := n.prepare(ctx); err != nil {
		close(n.done) // for what already waits for the end
		return nil, errors.Join(err, n.release())
	}
	n.assigned = a
	n.run()
	stop := context.AfterFunc(ctx, func() { _ = n.Close() })
	go func() {
		<-n.done
		stop() // or ctx would keep the node in memory
	}()
	return n, nil
}

// prepare takes everything that the node needs of its machine, and makes its parts. It
// closes the socket if it fails; the caller releases the rest.
func (n *Node) prepare(ctx context.Context) (err error) {
	c := &n.cfg
	if c.Awake {
		if n.awake, err = holdAwake(); err != nil {
			return fmt.Errorf("%w: %w", ErrAwake, err)
		}
		if doubt := awake.Doubt(); doubt != "" {
			n.log.Warn("Awake: it may have no effect", "because", doubt)
		}
	}
	if err := n.openState(); err != nil {
		return err
	}
	epochs, err := n.state.ReadEpoch(statedir.Configured{Quorum: c.Quorum, Epoch: c.QuorumEpoch, Join: c.JoinQuorum})
	if err != nil {
		return err
	}
	n.compareQuorum(epochs)
	for _, w := range c.Warnings() {
		n.log.Warn(w)
	}
	if c.KeyFile != "" {
		if n.ring, err = seal.ReadFile(c.KeyFile); err != nil {
			return fmt.Errorf("failaware: KeyFile: %w", err)
		}
	}
	end, err := n.open()
	if err != nil {
		return err
	}
	n.conn, n.clock, n.test = end.Conn, end.Clock, end.Test
	n.peers = peers.NewResolver(peers.Options{Self: c.ID, Local: n.conn.LocalAddr(), Insecure: c.remote(),
		Alive: func() Set { return n.loop.Snapshot().Alive }, Changed: n.conn.Wake, Log: n.logLater}, toResolve(c.Peers))
	n.finder = n.newFinder()
	for _, r := range c.References {
		n.pollers = append(n.pollers, reference.New(r, n.clock, c.Timing.MaxDrift))
	}
	n.loop = loop.New(n.loopConfig(epochs, end.Random, pause.From(ctx)), &n.closing)
	if err := join.Listen(c.joinSources(), n.conn.LocalAddr(), n.done, n.loop.Meet); err != nil {
		return errors.Join(fmt.Errorf("failaware: Join: %w", err), n.conn.Close())
	}
	if n.outputs, err = outputs.Start(ctx, c.outputs(), n.utc); err != nil {
		return errors.Join(fmt.Errorf("%w: %w", ErrServeTime, err), n.conn.Close())
	}
	if n.claim == nil || n.claim.Held {
		// Nothing can fail any more: a start that failed would rule later ones.
		if err := n.state.Begin(); err != nil {
			return errors.Join(err, n.outputs.Close(), n.conn.Close())
		}
	}
	return nil
}

// openState opens the state directory, if the node has one.
func (n *Node) openState() (err error) {
	c := &n.cfg
	if c.StateDir == "" {
		return nil
	}
	owner := statedir.Owner{ID: c.ID, Group: c.Group, Former: c.FormerGroup}
	if n.state, err = statedir.Open(c.StateDir, owner, c.Timing.MaxLockTime); err != nil {
		return err
	}
	n.warnOfNoState()
	if from := n.state.Renamed(); from != "" {
		n.log.Warn("the state directory is taken over from the group's former name", "directory", c.StateDir, "former", from)
	}
	return nil
}

// compareQuorum compares the configured quorum system with the one in use, which counts. A
// difference is an event. The loop does not run yet.
func (n *Node) compareQuorum(s *epoch.State) {
	if c := n.cfg.Quorum; s != nil && c != nil && s.System != "" && c.String() != s.System {
		n.events.Add(event.QuorumChange{Header: (*sink)(n).header(), Step: event.QuorumIgnored, Epoch: s.Epoch, System: s.System})
	}
}

// run starts the goroutines of the node. All end with it.
func (n *Node) run() {
	go n.loop.Run()
	go n.finish()
	go n.logEvents(n.firstStart())
	go n.logMessages()
	go n.outputs.Watch(n.done, n.log)
	n.askReferences()
	if n.cfg.Transport == nil { // or there are no names, and the kernel's clock means nothing
		go n.peers.Run(n.done)
		if n.finder != nil {
			go n.finder.Run(n.done)
		}
		go hwclock.WatchRate(n.done, n.cfg.Timing.MaxDrift, (*rateWatcher)(n))
	}
	if n.state != nil {
		go n.keepMembers()
	}
}

// finish waits for the end of the loop, and then ends the node.
func (n *Node) finish() {
	<-n.loop.Done()
	if err := n.outputs.Close(); err != nil {
		n.log.Error("the outputs of time did not end well", "error", err)
	}
	n.err = n.failure(n.loop.Err())
	if err := n.release(); err != nil && (n.err == nil || n.refused()) {
		n.err = err // with it, the node chooses no other id
	}
	if err := n.releaseID(); err != nil {
		n.err = errors.Join(n.err, err)
	}
	n.events.Close()
	close(n.done)
}

// release gives back everything that the node holds of its machine except its
// socket.
func (n *Node) release() error { return errors.Join(n.state.Close(), n.awake.Close()) }

// raiseProcs makes room for loops beside goroutines that compute all the time.
func raiseProcs() {
	if want := 2 * runtime.NumCPU(); runtime.GOMAXPROCS(0) < want {
		runtime.GOMAXPROCS(want)
	}
}

// open returns the node's end of the network, its hardware clock, and a source of
// boot ids.
func (n *Node) open() (end transport.Endpoint, err error) {
	c := &n.cfg
	if c.Transport == nil {
		if end.Clock, err = machineClock(); err != nil {
			return end, err
		}
		conn, err := udp.Listen(c.Listen, end.Clock, c.socket())
		if err != nil {
			return end, fmt.Errorf("failaware: Listen: %w", err)
		}
		end.Conn, end.Random = conn, systemRandom
		return end, nil
	}
	r := transport.Request{ID: c.ID, Timing: c.Timing, MaxPacket: c.largestPacket(), Ending: n.closing.Load}
	if c.Listen != "" {
		r.Listen = netip.MustParseAddrPort(c.Listen) // Validate has parsed it
	}
	if end, err = c.Transport.Open(r); err != nil {
		return end, fmt.Errorf("failaware: the transport: %w", err)
	}
	return end, nil
}

func systemRandom() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return binary.BigEndian.Uint64(b[:])
}

// isClosed reports whether a channel on which nothing is sent is closed.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
