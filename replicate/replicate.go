package replicate

import (
	"context"
	"fmt"

	"github.com/hashicorp/go-hclog"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/broadcast"
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
	// Working: this node has the state of the view. Its application may have to load it yet:
	// see [Freshness].
	Working = replica.Working
)

// Config configures a replica. Zero values stand for the defaults. Limits are those
// of this node; HashEvery must be the same at all nodes of the group.
type Config struct {
	// MaxSnapshot is the largest snapshot in bytes that this node makes or takes, up to 1 TiB.
	// A node that needs a larger one ends ([TooLarge]). Zero means 2 GiB, less a byte.
	MaxSnapshot int
	// SnapshotMemory is how many bytes of a snapshot that is transferred, or of the
	// operations of a view that wait for one, are kept in memory. Larger ones are in a
	// file. Zero means 8 MiB.
	SnapshotMemory int
	// Spool is the directory of these files. It must have room for two snapshots and the
	// operations that wait ([Config.MaxQueued]). Empty means Storage or, without one, the
	// system's directory for temporary files. The files go with the process, except that in
	// Storage what has come of a snapshot (incoming-*) stays: Start reads it, at a second or
	// two for a GiB, and the node asks for the rest.
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
	// MaxQueued is how many bytes of operations may wait for a snapshot or a merge, 64 for
	// each operation included: 1 KiB to 1 TiB. For a larger snapshot, as many bytes as it
	// has may wait, in a file beyond SnapshotMemory. As many bytes may wait for the
	// application; further ones count as [failaware.BroadcastConfig.Backlog]. Zero means 64
	// MiB.
	MaxQueued int
	// HashEvery is the number of ordered messages after which members compare hashes of
	// their states, for which the application is a [Hasher]. Zero means never.
	HashEvery int
	// Storage, if not empty, is a directory in which this node keeps the state: an
	// operation then lasts when it is on the disks of a quorum, without RequireQuorum of
	// all members of the view, and [Start] begins with the state that the directory has.
	// The directory is that of one node: [Start] refuses one that a node with another ID or
	// Group has used, or files of it ([ErrOwner]), unless its Group is the node's FormerGroup. Either all nodes of the group have a Storage,
	// or none has: a view of both takes no operations ([Mixed]). A node without a state ends
	// ([ErrMixed]) if those that have one differ from it. With RequireQuorum the
	// node needs a StateDir too, which keeps the sequences of views growing.
	//
	// Without a Storage, the state is lost when all processes have ended, also that which
	// lasted: then [Begun] is Lossy.
	//
	// Keep one copy: a directory that is restored from a backup has forgotten what this
	// node told the others.
	Storage string
	// OnMessage, if not nil, is called with the messages that members broadcast by
	// [Replica.Broadcast], in the order of the deliveries, between two calls of the
	// application and by the same goroutine. As with those, later deliveries wait meanwhile.
	OnMessage func(Message)
	// OnEvent, if not nil, is called with the events of the state, one at a time. It must
	// not block: the replica waits for it. Methods that wait for the replica return
	// [ErrInside] there; call them in another goroutine. [Level] says how serious an event
	// is. If OnEvent is nil, the log of the node has the events.
	OnEvent func(Event)
}

// Replica keeps an application the same at all members of a node's view. All
// methods are safe for concurrent use.
type Replica struct {
	node   *failaware.Node
	engine *engine.Engine
	reach  func() (broadcast.Reach, bool) // of the node
	// broadcast is [attach.Deliveries.Submit] of the node.
	broadcast func(ctx context.Context, payload []byte, opt broadcast.Options, noWait bool, queued func(failaware.MessageID)) (failaware.MessageID, error)
	lasts     bool // operations may come to last
	stored    bool // on disks
	// maxPayload is that of the broadcast.
	maxPayload int
	cancel     context.CancelFunc
	done       chan struct{}
	err        error                             // written before done is closed
	unclosed   error                             // of Close; likewise
	log        func(hclog.Level, string, ...any) // nil with OnEvent
}

// Start keeps an application the same as those of the other nodes of the group, over the
// broadcast of a running node. The application must be in its initial state. All nodes of
// the group must call Start right after their own start: a member that does not report its
// state keeps the others waiting ([AwaitsReports]). The replica takes all deliveries of the node, so
// [failaware.Node.Receive] fails with [failaware.ErrConsumer]. Messages that are not
// operations go by [Replica.Broadcast] to [Config.OnMessage]; those of
// [failaware.Node.Broadcast] must not be mixed with them.
//
// When the node begins another incarnation (event.Restarted), the replica keeps the
// state of the application, and brings it along as one that competes with those of the
// others. A process that starts again has no state, unless there is a Storage: then Start
// calls Restore and Apply before it returns, for the state that is there. If that takes so
// long that the node has joined a view, it begins another incarnation (event.LateState);
// [Prepare] does it before the node starts.
//
// With RequireQuorum, a node that remembers nothing does not count until it has the
// state again: a quorum of such nodes would not know earlier acknowledged operations. So
// a view needs a quorum of members that remember, or all nodes of the group (that is
// how a group begins), or [Replica.Bootstrap]. Until then the situation is Recovering,
// and the event [AwaitsMemory] names the absent nodes.
//
// The replica runs until [Replica.Close], until the node stops, until the application or its
// Storage fails, or until it can never have the state of the others ([Replica.Err]). The node
// stops with it, since the group would wait for a member without a state.
//
// The error names the field of cfg that is wrong, or is [failaware.ErrBroadcastOff],
// [failaware.ErrSendOnly], [failaware.ErrConsumer] or [ErrLate], or says that app lacks a
// method. An error of the Storage matches [failaware.ErrInUse], [ErrOwner] or
// [failaware.ErrDamaged], or is the system's. ErrDamaged means that a file, perhaps one of
// the StateDir, is lost or damaged: the text names the file and the offset. After an error
// the node goes on as a member without a state, which keeps the others waiting: close it. The
// application must not be used any more.
func Start(node *failaware.Node, app Application, cfg Config) (*Replica, error) {
	return (&Prepared{app: app, cfg: cfg}).Start(node)
}

// Close stops the replica, and its node with it as [failaware.Node.Close] does. To
// leave gracefully, call [failaware.Node.Leave] before. When Close returns, no method
// of the application is being called. Closing again does nothing. The error is nil, unless
// the [Config.Storage] failed, or its disk has no room: then it may lack operations for
// which Submit has not returned. But a method of the application, or [Config.OnEvent], that calls
// Close gets [ErrInside]: then the replica and the node stop when it has returned.
func (r *Replica) Close() error {
	r.cancel()
	if r.engine.Waited() {
		return ErrInside // run closes the node
	}
	_ = r.node.Close()
	<-r.done
	return r.unclosed
}

// String names the replica's node.
func (r *Replica) String() string { return fmt.Sprintf("replica at %v", r.node) }

// Done is closed when the replica has stopped, for any reason.
func (r *Replica) Done() <-chan struct{} { return r.done }

// Err returns nil while the replica runs, after Close, and when the node has stopped
// ([failaware.Node.Err]). Otherwise it returns why the replica stopped by itself: an
// error of Restore or Merge, or of the [Config.Storage], or one that matches [ErrMixed] or
// [ErrSnapshotTooLarge].
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
