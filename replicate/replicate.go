package replicate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/attach"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/replicate/internal/engine"
)

// Situation is the situation of a replica.
type Situation = replica.Situation

// The situations of a replica.
const (
	// NoView: the node is in no view yet.
	NoView = replica.NoView
	// NoQuorum: the view holds no quorum, with RequireQuorum.
	NoQuorum = replica.NoQuorum
	// Reporting: not all members have reported the state that they have.
	Reporting = replica.Reporting
	// Mixed: some members of the view have a [Config.Storage], and others have none.
	// Operations wait until they agree or part. [Differs] names them.
	Mixed = replica.Mixed
	// Changing: the quorum system is being replaced, and only some members of the view are in
	// the next epoch. Operations wait until all are, which takes about a second. It lasts if
	// the members were configured with different systems ([event.QuorumConflict]).
	Changing = replica.Changing
	// Recovering: with RequireQuorum, too few members remember the state, and nodes that may
	// know more are absent. Operations wait for them, or for [Replica.Bootstrap].
	Recovering = replica.Recovering
	// Merging: several states meet, and not all members have all of them.
	Merging = replica.Merging
	// Transferring: this node waits for the state of the others.
	Transferring = replica.Transferring
	// Working: this node has the state of the view.
	Working = replica.Working
)

// Config configures a replica. Zero values stand for the defaults. Limits are those
// of this node; HashEvery must be the same at all nodes of the group.
type Config struct {
	// MaxSnapshot is the largest snapshot in bytes, up to 1 TiB. Zero means 2 GiB, less a
	// byte.
	MaxSnapshot int
	// SnapshotMemory is how many bytes of a snapshot that is transferred, or of the
	// operations of a view that wait for one, are kept in memory. Larger ones are in a
	// file. Zero means 8 MiB.
	SnapshotMemory int
	// Spool is the directory of these files, which go with the process. It must have room
	// for two snapshots and the operations that wait ([Config.MaxQueued]). Empty means
	// Storage, or without one that for temporary files.
	Spool string
	// ChunkBytes is how many bytes of a snapshot travel in one message, at least 64.
	// Zero means 16 KiB, or as many as fit into the broadcast's MaxPayload if that is
	// less.
	ChunkBytes int
	// Rate is how many bytes of snapshots this node sends in a second, 1 KiB to 1 TiB.
	// Zero means 64 MiB.
	Rate int
	// Window is how many bytes of a snapshot may be under way to its slowest receiver,
	// up to 1 GiB. Zero means 1 MiB.
	Window int
	// MaxQueued is how many bytes of operations may wait for a snapshot or a merge, 64
	// for each operation included: 1 KiB to 1 TiB. For a larger snapshot, as many bytes as
	// it has may wait, in a file beyond SnapshotMemory. MaxQueued may wait for the
	// application too; further ones count as [failaware.BroadcastConfig.Backlog]. Zero
	// means 64 MiB.
	MaxQueued int
	// HashEvery is the number of ordered messages after which members compare hashes of
	// their states, for which the application is a [Hasher]. Zero means never.
	HashEvery int
	// Storage, if not empty, is a directory in which this node keeps the state: an
	// operation then lasts when it is on the disks of a quorum, without RequireQuorum of
	// all members of the view, and [Start] begins with the state that the directory has.
	// The directory is that of one node: [Start] refuses one that a node with another ID or
	// Group has used ([ErrOwner]). Either all nodes of the group have a Storage,
	// or none has: a view of both takes no operations ([Mixed]). A node without a state ends
	// ([ErrMixed]) if those that have one differ from it. With RequireQuorum the
	// node needs a StateDir too, which keeps the sequences of views growing.
	//
	// Keep one copy: a directory that is restored from a backup has forgotten what this
	// node told the others.
	Storage string
	// OnMessage, if not nil, is called with the messages that members broadcast by
	// [Replica.Broadcast], in the order of the deliveries, between two calls of the
	// application and by the same goroutine. As with those, later deliveries wait meanwhile.
	OnMessage func(Message)
	// OnEvent, if not nil, is called with the events of the state, one at a time. It must
	// not block.
	OnEvent func(Event)
}

// Replica keeps an application the same at all members of a node's view. All
// methods are safe for concurrent use.
type Replica struct {
	node   *failaware.Node
	engine *engine.Engine
	reach  func() (broadcast.Reach, bool) // of the node
	lasts  bool                           // operations may come to last
	stored bool                           // on disks
	cancel context.CancelFunc
	done   chan struct{}
	err    error // written before done is closed
}

// Start keeps an application the same as those of the other nodes of the group, over the
// broadcast of a running node. The application must be in its initial state. All nodes
// of the group must call Start right after their own start: a member that does not report its
// state keeps the others waiting. The replica takes all deliveries of the node, so
// [failaware.Node.Receive] fails with [failaware.ErrConsumer]. Messages
// that are no operations go by [Replica.Broadcast] to [Config.OnMessage]; those of
// [failaware.Node.Broadcast] must not be mixed with them.
//
// When the node begins another incarnation (event.Restarted), the replica keeps the
// state of the application, and brings it along as one that competes with those of the
// others. A process that starts again has no state, unless there is a Storage: then Start
// calls Restore and Apply before it returns, for the state that is there. If that takes so
// long that the node has joined a view, it begins another incarnation (event.LateState).
//
// With RequireQuorum, a node that remembers nothing does not count until it has the
// state again: a quorum of such nodes would not know earlier acknowledged operations. So
// a view needs a quorum of members that remember, or all nodes of the group (that is
// how a group begins), or [Replica.Bootstrap]. Until then the situation is Recovering,
// and the event [AwaitsMemory] names the absent nodes.
//
// The replica runs until [Replica.Close], until the node stops, or until the
// application or its Storage fails ([Replica.Err]). The node stops with it, since the
// group would wait for a member without a state.
//
// The error names the field of cfg that is wrong, or is [failaware.ErrBroadcastOff],
// [failaware.ErrSendOnly], [failaware.ErrConsumer] or [ErrLate], or says that app lacks
// a method. That of a Storage matches [failaware.ErrDamaged], and names the file that is
// damaged, with the offset, or lost, which may be one of the StateDir; it matches
// [failaware.ErrInUse] or [ErrOwner]; or it is the system's. The node goes on, and the application must
// not be used any more.
func Start(node *failaware.Node, app Application, cfg Config) (*Replica, error) {
	deliveries, err := attach.TakeDeliveries(node)
	if err != nil {
		return nil, err
	}
	r, stream, err := newReplica(node, deliveries, app, cfg)
	if err != nil {
		deliveries.Release()
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	go r.run(ctx, stream)
	return r, nil
}

// PrepareStorage makes a directory for [Config.Storage] unless it exists. Call it before
// [failaware.Start], with the Config of the node: then a node that has no place for its
// state does not appear in the group. The error is the one with which [Start] would refuse
// the directory: it cannot be made, other users may change it, or it matches [ErrOwner].
// Only Start reads the state, and compares the owner with an ID that the StateDir chooses.
func PrepareStorage(dir string, node failaware.Config) error {
	node = node.WithDefaults()
	return engine.PrepareStore(dir, engine.Owner{Node: node.ID, Group: node.Group})
}

func newReplica(n *failaware.Node, d attach.Deliveries, app Application, cfg Config) (*Replica, *engine.Stream, error) {
	c := cfg.machine(n)
	if err := c.Validate(); err != nil {
		return nil, nil, fmt.Errorf("replicate: invalid Config: %w", err)
	}
	if d.Touched() {
		return nil, nil, ErrLate
	}
	quorate := n.Config().Broadcast.RequireQuorum
	if err := checkApplication(app, &c, quorate); err != nil {
		return nil, nil, err
	}
	if cfg.Storage != "" && quorate && n.Config().StateDir == "" {
		return nil, nil, errors.New("replicate: invalid Config: Storage: with RequireQuorum the node needs a StateDir: states are compared by the sequences of views, which must grow when it starts again")
	}
	var event func(engine.Event)
	if cfg.OnEvent != nil {
		event = func(e engine.Event) { cfg.OnEvent(eventOf(&e)) }
	}
	var beside func(broadcast.Delivery)
	if cfg.OnMessage != nil {
		beside = func(d broadcast.Delivery) { cfg.OnMessage(messageOf(&d)) }
	}
	stream := engine.NewStream(n, d)
	if cfg.SnapshotMemory < 0 {
		return nil, nil, fmt.Errorf("replicate: invalid Config: SnapshotMemory: %d is negative", cfg.SnapshotMemory)
	}
	spool := engine.NewSpool(cmp.Or(cfg.Spool, cfg.Storage), cmp.Or(cfg.SnapshotMemory, defaultMemory))
	c.NewBytes = spool.NewBytes
	a := newAdapter(app)
	var store *engine.Store
	if cfg.Storage != "" {
		var err error
		if store, err = engine.OpenStore(cfg.Storage, engine.Owner{Node: n.ID(), Group: n.Config().Group}, a); err != nil {
			return nil, nil, err
		}
		if quorate {
			err = checkViews(n.Config(), cfg.Storage, store.View(), d.Views())
		}
		if err != nil {
			return nil, nil, errors.Join(err, store.Close())
		}
	}
	if err := spool.Check(); err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	e, err := engine.New(c, stream, a, store, beside, event)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("replicate: %w", err), store.Close())
	}
	stream.Follow(e)
	if ordered := store.Ordered(); len(ordered) > 0 {
		if err := d.RecallOrdered(ordered); err != nil {
			return nil, nil, errors.Join(err, store.Close())
		}
	}
	d.Keep()
	d.Guard(e.MayReplace)
	return &Replica{node: n, engine: e, reach: d.Reach, lasts: quorate || store != nil, stored: store != nil, done: make(chan struct{})}, stream, nil
}

// checkViews returns an error if a state on a disk is from a view that the state directory
// did not know of when the node started. Later views might then have smaller sequences. These
// compare states, so an older state could replace a newer one.
func checkViews(c failaware.Config, storage string, have failaware.ViewID, known uint64) error {
	if have.Sequence <= known {
		return nil
	}
	return fmt.Errorf("replicate: Storage: %w: %s has a state of view %v, but %s knows no view after sequence %d: it was lost, or is older; restore it. "+
		"If that is impossible, move both away, and the node begins with the state of the others",
		failaware.ErrDamaged, storage, have, filepath.Join(c.StateDir, fmt.Sprintf("node-%v.state", c.ID)), known)
}

// defaultMemory is the default of Config.SnapshotMemory.
const defaultMemory = 8 << 20

// machine returns the configuration of the machine.
func (cfg *Config) machine(n *failaware.Node) replica.Config {
	b := n.Config().Broadcast
	c := replica.Config{Self: failaware.Incarnation{Node: n.ID(), Boot: 1}, // each incarnation has its own
		MaxSnapshot: cfg.MaxSnapshot, ChunkBytes: cfg.ChunkBytes, Rate: cfg.Rate, Window: cfg.Window,
		MaxQueued: cfg.MaxQueued, HashEvery: cfg.HashEvery, MaxPayload: b.MaxPayload}
	if b.RequireQuorum && n.Config().StateDir != "" {
		c.Epoch = 1 // each incarnation has its own, and its quorum system
	}
	if c.ChunkBytes == 0 && b.MaxPayload >= replica.LeastPayload {
		c.ChunkBytes = min(replica.DefaultChunkBytes, b.MaxPayload-replica.ChunkOverhead)
	}
	return c
}

// Close stops the replica, and its node with it as [failaware.Node.Close] does. To
// leave gracefully, call [failaware.Node.Leave] before. When Close returns, no method
// of the application is being called. Closing again does nothing. The error is nil,
// except that a method of the application that calls Close gets [ErrInside]: then the
// replica and the node stop when that method has returned.
func (r *Replica) Close() error {
	r.cancel()
	if r.engine.Inside() {
		return ErrInside // run closes the node
	}
	_ = r.node.Close()
	<-r.done
	return nil
}

// Done is closed when the replica has stopped, for any reason.
func (r *Replica) Done() <-chan struct{} { return r.done }

// Err returns nil while the replica runs, after Close, and when the node has stopped
// ([failaware.Node.Err]). Otherwise it returns why the replica stopped by itself: an
// error of Restore or Merge, or of the [Config.Storage].
func (r *Replica) Err() error {
	select {
	case <-r.done:
		return r.err
	default:
		return nil
	}
}

// Node returns the node.
func (r *Replica) Node() *failaware.Node { return r.node }
