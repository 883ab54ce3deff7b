package loop

import (
	"sync/atomic"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/join"
	"github.com/failaware/failaware/internal/life"
	"github.com/failaware/failaware/internal/loop/commandqueue"
	"github.com/failaware/failaware/internal/loop/deliveryqueue"
	"github.com/failaware/failaware/internal/loop/sendqueue"
	"github.com/failaware/failaware/internal/loop/statedir"
	"github.com/failaware/failaware/internal/pause"
	"github.com/failaware/failaware/internal/peers"
	"github.com/failaware/failaware/internal/seal"
	"github.com/failaware/failaware/internal/seqlock"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/internal/transport"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// Config configures a loop.
type Config struct {
	// Stack configures the incarnations. The loop sets Self.Boot, Starts, Sequence and, from one
	// incarnation to the next, Epochs.
	Stack     stack.Config
	MaxPeers  int // learnt ones included
	MaxPacket int // in bytes
	// Ring has the keys of the group. Nil: packets are not sealed, and only loopback
	// addresses count unless Insecure is set.
	Ring     *seal.Ring
	Insecure bool
	// Labels describe the node to its peers.
	Labels wire.Labels
	// Settings are told to nodes with other settings. The loop adds the quorum system.
	Settings wire.Settings
	// Deliver makes the loop queue the deliveries of the broadcast. Otherwise it drops
	// them.
	Deliver bool
	Backlog int // of the delivery queue, in bytes
	// CheckLent makes the delivery queue check that lent payloads do not change.
	CheckLent bool

	Conn   transport.Conn
	Clock  *hwclock.Clock
	Wall   func() time.Time // the wall clock, with which group time begins
	Random func() uint64    // of boot ids
	State  *statedir.Dir    // nil: nothing outlives the process
	Claim  *Claim           // nil: the id is configured, or was kept before
	Peers  *peers.Resolver
	Join   *join.Finder // of candidates; nil: there are none
	Gate   *pause.Gate  // nil except in tests and the demonstration
	// Go runs what waits for the disk and holds up nothing, and Sleep has a turn wait for room on
	// the disk. Nil: a goroutine of its own, and time.Sleep. Simulated disks have others.
	Go    func(func())
	Sleep func(time.Duration)

	Sink Sink
	// OnPublish, if not nil, is called with every snapshot, when it has replaced the
	// previous one and before any caller or peer can hear of it: turn is the instant of the
	// loop's turn, and no reader rests on the previous snapshot at done.
	OnPublish func(s *Snapshot, turn, done timed.Instant)
}

// Sink receives the reports of a loop. The loop calls it at the end of a turn, when
// the state is published and the turn's packets have left. It must not block.
type Sink interface {
	// Event reports an event of the stack, which is valid until Event returns.
	Event(*stack.Event)
	// Restarted reports that an incarnation has ended. The next one has the new boot
	// id, and may have to wait.
	Restarted(why life.Reason, previous, boot timed.BootID)
	// Warn reports what is for the log alone, with keys and values. Other goroutines than
	// the loop's call it too.
	Warn(text string, args ...any)
}

// Loop is a node's loop as its callers see it. All methods are safe for concurrent
// use.
type Loop struct {
	cfg        Config
	sends      *sendqueue.Queue     // nil without broadcast
	deliveries *deliveryqueue.Queue // nil without broadcast, and where they are dropped
	commands   commandqueue.Queue[*command]
	meeting    atomic.Int32 // packets to a multicast group among the commands
	samples    findings[sample]
	verdicts   findings[hwclock.Verdict]
	leaving    atomic.Bool // the command to leave was given
	snapshot   atomic.Pointer[Snapshot]
	reach      seqlock.Numbers                                 // of the broadcast, published with the snapshot
	labels     [timed.MaxNodes + 1]atomic.Pointer[wire.Labels] // of peers, as they said last
	lags       atomic.Pointer[Lags]                            // nil: the broadcast has not been looked at
	closing    *atomic.Bool
	driver     *driver

	done chan struct{}
	err  error   // written before done is closed
	last *Status // likewise
}

// New returns a loop and publishes the first snapshot. When closing becomes true and
// the connection is woken, the loop ends without another turn.
func New(cfg Config, closing *atomic.Bool) *Loop {
	l := &Loop{cfg: cfg, closing: closing, done: make(chan struct{})}
	if cfg.Go == nil {
		l.cfg.Go = func(f func()) { go f() }
	}
	if cfg.Sleep == nil {
		l.cfg.Sleep = time.Sleep
	}
	if b := cfg.Stack.Broadcast; b != nil {
		l.sends = sendqueue.New(sendqueue.Options{Self: cfg.Stack.Self.Node, PacketBytes: b.PacketBytes, Wake: l.handleSends})
		if cfg.Deliver {
			l.deliveries = deliveryqueue.New(cfg.Backlog, cfg.CheckLent)
		}
	}
	l.driver = newDriver(l)
	return l
}

// Run is the loop's goroutine. It ends when the node leaves, fails, or is closed.
func (l *Loop) Run() { l.driver.run() }

// Close ends the loop without another turn. It does not wait.
func (l *Loop) Close() {
	l.closing.Store(true)
	l.cfg.Conn.Wake()
}

// Done is closed when the loop has ended and its connection is closed.
func (l *Loop) Done() <-chan struct{} { return l.done }

// Err returns why the loop has ended by itself: a [*DuplicateIDError], a [*RefusedError],
// or an error of the connection or the disk. It returns nil if the loop was closed or left.
// It must not be called before [Loop.Done] is closed.
func (l *Loop) Err() error { return l.err }

// Snapshot returns the state published last. It takes no lock.
func (l *Loop) Snapshot() *Snapshot { return l.snapshot.Load() }

// Labels returns the labels of a peer, as it has told them, or nil. It takes no lock.
func (l *Loop) Labels(id timed.NodeID) *wire.Labels { return l.labels[id].Load() }

// Lags returns what the broadcast has waited for lately with no progress, as the loop has seen
// it within the last second or so. It takes no lock.
func (l *Loop) Lags(now timed.Instant) Lags {
	if all := l.lags.Load(); all != nil {
		return all.at(now)
	}
	return nil
}

// Sends returns the queue of messages to broadcast, or nil without broadcast.
func (l *Loop) Sends() *sendqueue.Queue { return l.sends }

// Deliveries returns the queue of deliveries, or nil.
func (l *Loop) Deliveries() *deliveryqueue.Queue { return l.deliveries }

// Reach returns how far the broadcast is: at least as far as this node has told others.
// ok is false if that is just changing.
func (l *Loop) Reach() (r broadcast.Reach, ok bool) {
	var n [seqlock.Size]uint64
	ok = l.reach.Load(&n)
	id := membership.ViewID{Sequence: n[0], Leader: timed.NodeID(n[1]), Boot: timed.BootID(n[2])}
	return broadcast.Reach{View: id, Have: n[3], Delivered: n[4], Position: n[5]}, ok
}

// Wake makes the loop take a turn.
func (l *Loop) Wake() { l.cfg.Conn.Wake() }

// handleSends sends queued messages in a turn of the caller, if it may take one. Otherwise
// it wakes the loop.
func (l *Loop) handleSends() {
	if !l.driver.tryTurn() {
		l.Wake()
	}
}

// command is what a caller has the loop do.
type command struct{ run func(*driver) }

// do makes the loop call f in its next turn, and returns false if the loop has ended. The
// loop may end before it calls f. It is for what waits once, since the loop may stand.
func (l *Loop) do(f func(*driver)) bool { return l.order(&command{f}) }

// order is do for a command that may be withdrawn.
func (l *Loop) order(c *command) bool {
	if !l.commands.Put(c) {
		return false
	}
	l.Wake()
	return true
}
