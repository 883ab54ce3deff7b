package failaware

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/broadcast/replica"
	replicas "github.com/failaware/failaware/broadcast/replica/driver"
	"github.com/failaware/failaware/internal/loop/deliveryqueue"
)

// The vocabulary of replicated state.
type (
	// Operation is what [Application.Apply] gets: the command as its Payload, who
	// submitted it, and its group time.
	Operation = broadcast.Delivery
	// StateBranch is one of the states that meet when parts of a group do: its
	// members, and a snapshot.
	StateBranch = replica.Branch
	// ReplicaEvent is something that happened to the replicated state; package
	// broadcast/replica names the kinds.
	ReplicaEvent = replica.Event
	// ReplicaSituation says what a replica is about.
	ReplicaSituation = replica.Situation
)

// What a replica can be about.
const (
	// ReplicaNoView: the node is in no view yet.
	ReplicaNoView = replica.NoView
	// ReplicaNoQuorum: the view has no majority of RequireQuorum.
	ReplicaNoQuorum = replica.NoQuorum
	// ReplicaReporting: not all members have said what state they have.
	ReplicaReporting = replica.Reporting
	// ReplicaMerging: several states meet, and not all members have all of them.
	ReplicaMerging = replica.Merging
	// ReplicaTransferring: this node waits for the state of the others.
	ReplicaTransferring = replica.Transferring
	// ReplicaWorking: this node has the state of the view.
	ReplicaWorking = replica.Working
)

// Application is a state that is kept the same at all members of a group. Its
// methods are called one after the other, by one goroutine, and may take their
// time: only this node's state lags. Applications of all nodes begin in equal
// states. docs/replication.md says more.
type Application interface {
	// Apply changes the state by one operation, and by nothing but the state and the
	// operation. What it returns is for [Replica.Submit] at the node that submitted
	// the operation, and is dropped elsewhere. The payload may be kept.
	Apply(op Operation) (result any)
	// Snapshot writes the state down. The bytes must not be changed any more. With an
	// error, another member does it, if one can.
	Snapshot() ([]byte, error)
	// Restore replaces the state. An error ends the replica.
	Restore(state []byte) error
	// Merge replaces the state by what becomes of branches, by nothing but them: all
	// members get the same ones, in the same order. It is never called with
	// RequireQuorum. An error ends the replica.
	Merge(branches []StateBranch) error
}

// ReplicaConfig configures a replica. Zero values stand for the defaults. Limits
// are those of this node; HashEvery must be the same at all nodes of the group.
type ReplicaConfig struct {
	// MaxSnapshot is the largest snapshot in bytes, up to 1 TiB. Zero means 256 MiB.
	MaxSnapshot int
	// ChunkBytes is how many bytes of a snapshot travel in one message, at least 64.
	// Zero means 16 KiB, or what fits into the broadcast's MaxPayload if that is less.
	ChunkBytes int
	// Rate is how many bytes of snapshots this node sends in a second, 1 KiB to
	// 1 TiB. Zero means 64 MiB.
	Rate int
	// Window is how many bytes of a snapshot may be under way to its slowest
	// receiver, up to 1 GiB. Zero means 1 MiB.
	Window int
	// MaxQueued is how many bytes of operations may wait for a snapshot or a merge,
	// 64 for each operation included: 1 KiB to 1 TiB. Zero means 64 MiB.
	MaxQueued int
	// HashEvery is after how many ordered messages members compare hashes of their
	// states, for which the application needs a method Hash() uint64. Zero means never.
	HashEvery int
	// OnEvent, if not nil, is told what happens to the state. It is called by one
	// goroutine and must not wait.
	OnEvent func(ReplicaEvent)
}

// Replica keeps an application the same at all members of a node's view. All
// methods are safe for concurrent use.
type Replica struct {
	n       *Node
	app     *guarded
	cfg     replica.Config
	onEvent func(ReplicaEvent)
	initial []byte // the snapshot of the state in which all applications begin
	stream  stream
	ledger  ledger
	quorum  bool
	cancel  context.CancelFunc
	done    chan struct{}
	err     error // written before done is closed

	mu    sync.Mutex
	life  *replicas.Driver // of the incarnation; nil between two of them
	begun chan struct{}    // closed when there is another life
}

// Replicate makes an application, which is in its initial state, one with those of
// the other nodes of the group, over the broadcast of a running node. All nodes of
// the group must do so, right after their start: a member that does not say what
// state it has keeps the others waiting. The replica takes all deliveries of the
// node, so [Node.Receive] fails with [ErrConsumer], and messages that are broadcast
// by others means than the replica are not for it.
//
// It calls Snapshot once before it returns, and Restore with that snapshot when the
// node begins another incarnation ([Restarted]), which has to get the state from the
// others again.
//
// The replica runs until [Replica.Close], until the node stops, or until the
// application fails ([Replica.Err]); and the node stops with it, since the group
// would wait for a member without a state.
//
// The error names the field of cfg that is wrong, or is [ErrBroadcastOff],
// [ErrSendOnly], [ErrConsumer], [ErrLateReplica], or that of Snapshot; then the node
// goes on.
func Replicate(node *Node, app Application, cfg ReplicaConfig) (*Replica, error) {
	q, err := node.consume()
	if err != nil {
		return nil, err
	}
	r, err := newReplica(node, q, app, cfg)
	if err != nil {
		q.Release()
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	go r.run(ctx)
	return r, nil
}

func newReplica(n *Node, q *deliveryqueue.Queue, app Application, cfg ReplicaConfig) (*Replica, error) {
	b := n.cfg.Broadcast
	c := replica.Config{MaxSnapshot: cfg.MaxSnapshot, ChunkBytes: cfg.ChunkBytes, Rate: cfg.Rate, Window: cfg.Window,
		MaxQueued: cfg.MaxQueued, HashEvery: cfg.HashEvery, RequireQuorum: b.machine().RequireQuorum, MaxPayload: b.MaxPayload}
	if c.ChunkBytes == 0 && b.MaxPayload >= replica.LeastPayload {
		c.ChunkBytes = min(replica.DefaultChunkBytes, b.MaxPayload-replica.ChunkOverhead)
	}
	c.Self = n.loop.Snapshot().Self // only looked at here; each life has its own
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("failaware: invalid ReplicaConfig: %w", err)
	}
	if q.Touched() {
		return nil, ErrLateReplica
	}
	initial, err := app.Snapshot()
	if err != nil {
		return nil, fmt.Errorf("failaware: the snapshot of the initial state: %w", err)
	}
	r := &Replica{n: n, cfg: c, onEvent: cfg.OnEvent, initial: initial, quorum: !c.RequireQuorum.Empty(),
		done: make(chan struct{}), begun: make(chan struct{})}
	r.app = &guarded{Application: app, ledger: &r.ledger}
	r.stream = stream{n: n, q: q, ledger: &r.ledger}
	// What can be refused is refused here, and not by the first life.
	if _, err := r.newLife(c.Self); err != nil {
		return nil, fmt.Errorf("failaware: invalid ReplicaConfig: %w", err)
	}
	return r, nil
}

// newLife returns the driver of an incarnation.
func (r *Replica) newLife(self Incarnation) (*replicas.Driver, error) {
	cfg := r.cfg
	cfg.Self = self
	var app replicas.Application = r.app
	if h, ok := r.app.Application.(replicas.Hasher); ok {
		app = hashing{r.app, h}
	}
	return replicas.New(cfg, &r.stream, app, r.onEvent)
}

// run lives one life for each incarnation of the node.
func (r *Replica) run(ctx context.Context) {
	defer close(r.done)
	err := r.live(ctx)
	r.setLife(nil)
	_ = r.n.Close()
	r.ledger.end()
	r.stream.q.Release()
	if ctx.Err() == nil && !errors.Is(err, ErrClosed) {
		r.err = err
	}
}

func (r *Replica) live(ctx context.Context) error {
	for {
		self, err := r.stream.begin(ctx)
		if err != nil {
			return err
		}
		d, err := r.newLife(self)
		if err != nil {
			return err
		}
		r.setLife(d)
		err = d.Run(ctx)
		if !errors.Is(err, errNewLife) {
			return err
		}
		r.setLife(nil)
		if err := r.app.Restore(r.initial); err != nil {
			return fmt.Errorf("failaware: Restore of the initial state: %w", err)
		}
	}
}

func (r *Replica) setLife(d *replicas.Driver) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.life = d
	close(r.begun)
	r.begun = make(chan struct{})
}

// Close stops the replica, and its node with it as [Node.Close] does. To go
// gracefully, call [Node.Leave] before. When Close returns, no method of the
// application is being called. The error is always nil; closing again does nothing.
func (r *Replica) Close() error {
	r.cancel()
	_ = r.n.Close()
	<-r.done
	return nil
}

// Done is closed when the replica has stopped, for whatever reason.
func (r *Replica) Done() <-chan struct{} { return r.done }

// Err returns nil while the replica runs, after Close, and when the node has
// stopped ([Node.Err]), and else why the replica stopped by itself: an error of
// Restore or Merge.
func (r *Replica) Err() error {
	select {
	case <-r.done:
		return r.err
	default:
		return nil
	}
}

// Node returns the node.
func (r *Replica) Node() *Node { return r.n }
